// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "control_documents.h"
#include "mpa/model/issues.h"

/// Missing records, detected from names and sizes alone.
namespace mpa::raw {

/// Counts slices of `directory` (host/data, device_<N>/data), which messages call `side`, that
/// differ from what the profiler left: when it closes a slice it notes the size in <slice>.done,
/// and it numbers the slices from 0.
void CountMissingSlices(const std::filesystem::path& directory, std::string_view side,
                        Issues& issues);

/// The facts that decide which kinds of records a capture must contain.
struct ExpectedRecords {
  const std::vector<SideDocuments>& sides;  ///< of the host, when there is one, and the devices
  const Json& settings;                     ///< profiler_info.json; null: not known
  std::filesystem::path framework;          ///< empty: there is none
};
/// Counts kinds that are missing although the settings ask for them or other records need them.
void CountMissingKinds(const ExpectedRecords& expected, Issues& issues);

}  // namespace mpa::raw
