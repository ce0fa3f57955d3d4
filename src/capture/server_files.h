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

/// A database in which msServiceProfiler keeps what devices did, by its name: it has no requests.
bool IsDeviceRecord(const std::filesystem::path& path);

/// The records of the server in a directory, or the table that is given; empty: there are none. Of
/// several forms of the same records the most complete one counts: tables as text with requests and
/// batches, profiler.db, what was not parsed, chrome_tracing.json, single tables. Throws Error
/// (kInput) for a table that cannot be read.
std::optional<RankInput> ScanServer(const std::filesystem::path& path);

/// Drops those that hold less of what others hold which lie above or below them: the parser reads
/// directories and writes into others.
void KeepMostComplete(std::vector<RankInput>& servers);

/// The files of all instances of a server below `top` as one capture; of a single one itself.
RankInput JoinServers(std::vector<RankInput> servers, const std::filesystem::path& top);

inline constexpr const char* kServerProblem =
    "records of a server's requests and no profile of a device; '-m serving_requests' analyses"
    " them";
inline constexpr const char* kDeviceRecordProblem =
    "records of devices by msServiceProfiler (ascend_service_profiler_*.db), which have no"
    " requests;"
    " give the directory with ms_service_*.db or request.csv";

}  // namespace mpa
