// SPDX-License-Identifier: Apache-2.0
// The databases of a parsed capture: fast bulk writing, texts, and which tables each has.
#include "profiler_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <system_error>

#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/parallel.h"
#include "mpa/base/utf8.h"
#include "mpa/io/json_document.h"
#include "mpa/io/scratch_directory.h"
#include "mpa/profiler_output/profiler_output.h"
#include "mpa/raw/labels.h"

namespace mpa::profiler_output {

// The texts of a profiler database.

void DatabaseStrings::Write(DatabaseWriter& database) const {
  database.WriteTable("STRING_IDS", "id INTEGER PRIMARY KEY, value TEXT", [&](TableWriter& table) {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i] != 0)
        table.Add(i, ValidUtf8(session_.View(StringId{static_cast<std::uint32_t>(i)})));
    }
    // The empty text, first of every pool, is always the session's.
    for (std::size_t i = 1; i < made_.Size(); ++i) {
      table.Add(session_.Size() + i,
                ValidUtf8(made_.View(StringId{static_cast<std::uint32_t>(i)})));
    }
  });
}

// The profiler database of one rank.

void WriteProfilerDatabase(const raw::Session& session, const std::filesystem::path& path) {
  InContext(io::FinalName(path), [&] {
    DatabaseWriter database(path);
    DatabaseStrings strings(session.strings);
    WriteEnvironment(session, database);
    WriteCann(session, strings, database);
    WriteCollectives(session, strings, database);
    WriteFramework(session, strings, database);
    WriteMemory(session, strings, database);
    WriteTraffic(session.traffic, strings, database);
    WriteChipAndHost(session.traffic, strings, database);
    strings.Write(database);
    database.Finish();
  });
}

// The databases of a parsed capture.

void WriteDatabases(const raw::Session& session, const std::filesystem::path& directory) {
  const bool mindspore = session.info.mindspore;
  const std::string rank =
      session.info.rank.IsKnown() ? fmt::format("_{}", session.info.rank.Number()) : "";
  const std::string profiler =
      fmt::format("ascend_{}_profiler{}.db", mindspore ? "mindspore" : "pytorch", rank);
  // MindSpore's holds collectives alone; without a device side there is nothing to analyse.
  const char* analysis = mindspore ? "communication_analyzer.db" : "analysis.db";
  const bool analysed = !session.info.prof.empty() && !(mindspore && session.collectives.Empty());
  ParallelFor(analysed ? 2 : 1, [&](std::size_t i) {
    if (i == 0) {
      WriteProfilerDatabase(session, directory / profiler);
    } else {
      WriteAnalysisDatabase(session, directory / analysis);
    }
  });
  LogInfo("{}: made from all records", profiler);
  if (analysed) LogInfo("{}: made from steps (FRAMEWORK), tasks and collectives", analysis);
}

// The tables of a profiler database that do not depend on what was recorded: versions, host,
// devices, names of numbers.

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnknownChip = "UNKNOWN";

// What the framework left of environment and groups of ranks. A broken file costs only these rows.
void AddFrameworkMetadata(const fs::path& capture, TableWriter& table) {
  const fs::path path = capture / "profiler_metadata.json";
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return;
  try {
    const nlohmann::json metadata = io::ReadJson(path);
    if (!metadata.is_object()) return;
    for (const auto& [key, value] : metadata.items()) table.Add(key, value.dump());
  } catch (const Error& broken) {
    LogWarning("{}", broken.what());
  }
}

void WriteMetadata(const raw::Session& session, DatabaseWriter& database) {
  database.WriteTable("META_DATA", "name TEXT, value TEXT", [&](TableWriter& table) {
    table.Add("SCHEMA_VERSION", "1.2.0");
    table.Add("SCHEMA_VERSION_MAJOR", "1");
    table.Add("SCHEMA_VERSION_MINOR", "2");
    table.Add("SCHEMA_VERSION_MICRO", "0");
    AddFrameworkMetadata(session.info.path, table);
  });
}

TimeNs LastTime(const raw::Session& session) {
  TimeNs last = session.info.begin;
  for (const TimeNs end : session.tasks.end) last = std::max(last, end);
  for (std::size_t i = 0; i < session.calls.Size(); ++i)
    last = std::max(last, session.calls.End(i));
  for (std::size_t i = 0; i < session.ops.Size(); ++i) last = std::max(last, session.ops.End(i));
  return last;
}

void WriteSessionTime(const raw::Session& session, DatabaseWriter& database) {
  const raw::SessionInfo& info = session.info;
  if (info.begin < 0) return;
  // A collection that was not ended lasts as long as there is something in it.
  const TimeNs end = info.end >= 0 ? info.end : LastTime(session);
  database.WriteTable("SESSION_TIME_INFO", "startTimeNs INTEGER, endTimeNs INTEGER",
                      [&](TableWriter& table) { table.Add(info.begin, end); });
}

std::string_view ChipName(std::int64_t platform) {
  const std::string_view name =
      raw::NameOf(raw::kNumbered<"0: Ascend310, Ascend910A, 4: Ascend310P, Ascend910B,"
                                 " 7: Ascend310B, 15: Ascend950">,
                  platform);
  return name.empty() ? kUnknownChip : name;
}

void WriteDevices(const raw::SessionInfo& info, DatabaseWriter& database) {
  database.WriteTable("NPU_INFO", "id INTEGER, name TEXT", [&](TableWriter& table) {
    for (const raw::Device& device : info.devices) table.Add(device.id, ChipName(device.platform));
    if (info.devices.empty()) table.Add(-1, kUnknownChip);
  });
  database.WriteTable("RANK_DEVICE_MAP", "rankId INTEGER, deviceId INTEGER",
                      [&](TableWriter& table) {
                        for (const raw::Device& device : info.devices) {
                          table.Add(info.rank.Number(), device.id);
                        }
                        if (info.devices.empty()) table.Add(info.rank.Number(), -1);
                      });
}

void WriteHost(const raw::SessionInfo& info, DatabaseWriter& database) {
  database.WriteTable("HOST_INFO", "hostUid TEXT, hostName TEXT",
                      [&](TableWriter& table) { table.Add(info.host_uid, info.host_name); });
}

void WriteNames(const char* name, std::span<const raw::NamedNumber> numbers,
                DatabaseWriter& database) {
  database.WriteTable(name, "id INTEGER PRIMARY KEY, name TEXT", [&](TableWriter& table) {
    for (const raw::NamedNumber& entry : numbers) table.Add(entry.number, entry.name);
  });
}

}  // namespace

void WriteEnvironment(const raw::Session& session, DatabaseWriter& database) {
  WriteMetadata(session, database);
  WriteSessionTime(session, database);
  WriteHost(session.info, database);
  WriteDevices(session.info, database);
  WriteNames("ENUM_API_TYPE", raw::ApiLevels(), database);
  WriteNames("ENUM_MODULE", raw::Modules(), database);
  WriteNames("ENUM_HCCL_DATA_TYPE", raw::CommunicationDataTypes(), database);
  WriteNames("ENUM_HCCL_LINK_TYPE", raw::LinkTypes(), database);
  WriteNames("ENUM_HCCL_TRANSPORT_TYPE", raw::TransportTypes(), database);
  WriteNames("ENUM_HCCL_RDMA_TYPE", raw::RdmaTypes(), database);
  WriteNames("ENUM_MEMCPY_OPERATION", raw::CopyDirections(), database);
  WriteNames("ENUM_MSTX_EVENT_TYPE", raw::MarkTypes(), database);
  WriteNames("ENUM_OVERLAP_ANALYSIS_TYPE", raw::ActivityTypes(), database);
}

}  // namespace mpa::profiler_output
