// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "mpa/capture/capture.h"

namespace mpa {

/// True for a table of msServiceProfiler: its name, and the beginning of what is in it. Of tables
/// the columns decide, because others call files "request.csv", too.
bool IsServerTable(const std::filesystem::path& path);

/// The tables among the entries of a directory and in its folder for spans, in the order in which
/// they are read: requests come first, since batches tell more about them. The database counts only
/// where there are no tables as text: both hold the same.
std::vector<std::filesystem::path> ServerTables(const std::filesystem::path& directory);

/// A database of msServiceProfiler before any parsing, by its name.
bool IsRawServerDatabase(const std::filesystem::path& path);

/// The records of the server in a directory, or the table that is given; empty: there are none.
/// Throws Error (kInput) for a table that cannot be read.
std::optional<RankInput> ScanServer(const std::filesystem::path& path);

inline constexpr const char* kServerProblem =
    "records of a server's requests and no profile of a device; '-m serving_requests' analyses"
    " them";
inline constexpr const char* kRawServerProblem =
    "records of msServiceProfiler as it left them (ms_service_*.db); parse them with 'python3 -m"
    " ms_service_profiler.parse --input-path', and give the directory with request.csv";

}  // namespace mpa
