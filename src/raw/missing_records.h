// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "control_documents.h"
#include "mpa/model/issues.h"

/// Records that are not there, told from names and sizes alone.
namespace mpa::raw {

/// Counts slices of `directory` (host/data, device_<N>/data), which messages call `side`, that are
/// not as the profiler left them: it notes the size of each slice in <slice>.done when it closes
/// it, and numbers the slices from 0.
void CountMissingSlices(const std::filesystem::path& directory, std::string_view side,
                        Issues& issues);

/// What decides which kinds of records a capture must hold.
struct ExpectedRecords {
  const std::vector<SideDocuments>& sides;  ///< of the host, when there is one, and the devices
  const Json& settings;                     ///< profiler_info.json; null: not known
  std::filesystem::path framework;          ///< empty: there is none
};
/// Counts kinds that are missing although the settings ask for them or other records need them.
void CountMissingKinds(const ExpectedRecords& expected, Issues& issues);

}  // namespace mpa::raw
