// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "mpa/capture/record_kinds.h"

namespace mpa {

/// The directories of a capture in which the profiler leaves its records, with the files in them.
struct RawDirectory {
  RecordSide side{};
  std::filesystem::path path;  ///< PROF_*/host/data, PROF_*/device_<N>/data, FRAMEWORK
  std::vector<std::filesystem::path> files;  ///< records only, in name order
  std::int64_t bytes = 0;
};

/// The directories with data in a capture directory or in a PROF_* directory.
std::vector<RawDirectory> FindRawData(const std::filesystem::path& capture);

/// The total size of the files.
std::int64_t TotalBytes(const std::vector<RawDirectory>& data);

/// The rank that PROF_*/host/info.json states; empty when it states none.
std::optional<std::int64_t> RankOfHost(const std::filesystem::path& capture);

/// The files that end within a record: their writer was killed, or the copy was cut off. Only kinds
/// of records are checked whose ends can be found without reading all records.
std::vector<std::filesystem::path> FindCutFiles(const std::vector<RawDirectory>& data);

}  // namespace mpa
