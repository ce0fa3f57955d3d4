// SPDX-License-Identifier: Apache-2.0
// The runtime's records in a profiler database: calls, device work, garbage collections, the time
// of the session, calls into the operating system.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiler_db_tables.h"
#include "trace_builder.h"

namespace mpa::readers {
namespace {

// The levels of CANN_API.type under the names that traces give them; usually these.
std::map<std::int64_t, std::string> ReadLevels(const io::Database& database) {
  const std::map<std::string, std::string, std::less<>> names = {{"acl", "AscendCL"},
                                                                 {"model", "Model"},
                                                                 {"node", "Node"},
                                                                 {"hccl", "Hccl"},
                                                                 {"runtime", "Runtime"}};
  std::map<std::int64_t, std::string> levels = {
      {20000, "AscendCL"}, {15000, "Model"}, {10000, "Node"}, {5500, "Hccl"}, {5000, "Runtime"}};
  for (const auto& [number, name] : NamesOfNumbers(database, "ENUM_API_TYPE")) {
    const auto level = names.find(name);
    if (level != names.end()) levels[number] = level->second;
  }
  return levels;
}

// "Node@launch" for each pair of level and name, made once.
class CallNames {
 public:
  explicit CallNames(DbInput& input) : input_(input), levels_(ReadLevels(input.database)) {}

  StringId Of(const io::Row& row, int level_column, int name_column) {
    const StringId name = input_.strings.Text(row, name_column);
    const std::int64_t level = row.IntOr(level_column, -1);
    if (Index(name) >= last_.size()) last_.resize(Index(name) + 1);
    Call& last = last_[Index(name)];  // a function is nearly always called on one level
    if (!last.known || last.level != level) last = {true, level, Find(level, name)};
    return last.name;
  }

 private:
  struct Call {
    bool known = false;
    std::int64_t level = 0;
    StringId name{};
  };

  StringId Find(std::int64_t level, StringId name) {
    const auto known = levels_.find(level);
    if (known == levels_.end()) return name;
    StringPool& pool = input_.trace.strings;
    return pool.Intern(fmt::format("{}@{}", known->second, pool.View(name)));
  }

  DbInput& input_;
  std::map<std::int64_t, std::string> levels_;
  std::vector<Call> last_;  // by the name
};

void ReadSession(DbInput& input) {
  if (!input.database.HasTable("SESSION_TIME_INFO")) return;
  io::Statement rows = input.database.Query("SELECT startTimeNs, endTimeNs FROM SESSION_TIME_INFO");
  if (!rows.Step()) return;
  input.trace.session_start = TimeOrNone(rows.row(), 0);
  input.trace.session_end = TimeOrNone(rows.row(), 1);
}

// Where the first task of a connection ran.
struct Owner {
  std::int64_t pid = -1, device = -1;
};

// By the connection of a collective.
using Owners = std::unordered_map<std::int64_t, std::optional<Owner>>;

Owners ConnectionsOfCollectives(const io::Database& database) {
  Owners owners;
  ScanTable(database, "COMMUNICATION_OP", "connectionId",
            [&](const io::Row& row) { owners.try_emplace(Link(row, 0)); });
  return owners;
}

void ReadKernelRuns(DbInput& input, Owners& owners) {
  const auto read = [&](const io::Row& row) {
    const std::int64_t connection = Link(row, 3);
    const Owner owner{NumberOrNone(row, 5), NumberOrNone(row, 6)};
    const auto of_collective = owners.find(connection);
    if (of_collective != owners.end() && !of_collective->second) of_collective->second = owner;
    if (row.IsNull(7)) return;
    const auto span = ReadSpan(input, row, 0, 1, "TASK");
    if (!span) return;
    input.trace.device_runs.Append({.start = span->start,
                                    .dur = span->dur,
                                    .name = input.strings.Text(row, 2),
                                    .connection = connection,
                                    .model = NumberOrNone(row, 4),
                                    .pid = owner.pid,
                                    .device = owner.device,
                                    .stream = NumberOrNone(row, 8)});
  };
  input.database.Scan(
      "t.startNs, t.endNs, i.name, t.connectionId, t.modelId, t.globalPid, t.deviceId,"
      " i.globalTaskId, t.streamId",
      "TASK t NOT INDEXED LEFT JOIN COMPUTE_TASK_INFO i ON i.globalTaskId = t.globalTaskId", read);
}

void ReadCollectiveRuns(DbInput& input, Owners& owners) {
  io::Statement rows = input.database.Query(
      "SELECT startNs, endNs, opName, connectionId FROM COMMUNICATION_OP ORDER BY opId");
  while (rows.Step()) {
    const auto span = ReadSpan(input, rows.row(), 0, 1, "COMMUNICATION_OP");
    if (!span) continue;
    const std::int64_t connection = Link(rows.row(), 3);
    const Owner owner = owners[connection].value_or(Owner());
    input.trace.device_runs.Append({.start = span->start,
                                    .dur = span->dur,
                                    .name = input.strings.Text(rows.row(), 2),
                                    .is_collective = true,
                                    .connection = connection,
                                    .pid = owner.pid,
                                    .device = owner.device});
  }
}

}  // namespace

void ReadHostCalls(DbInput& input) {
  ReadSession(input);
  // Threads and connections tie calls to other tables, which others do not want to have.
  const bool alone = (input.wanted & (Tables::kHostCalls | Tables::kSteps)) == input.wanted;
  input.trace.host_calls.Reserve(input.database.ApproximateRows("CANN_API"));
  CallNames names(input);
  TrackNumbers tracks(input.trace.tracks);
  const auto read = [&](const DbSpan& span, const io::Row& row) {
    HostCalls::Row call{.start = span.start, .dur = span.dur, .name = names.Of(row, 2, 3)};
    if (!alone) {
      const std::int64_t thread = row.IntOr(4, 0);
      call.track = tracks.Of(thread >> 32, thread & 0xffffffff);
      call.connection = Link(row, 5);
    }
    input.trace.host_calls.Append(call);
  };
  ScanSpans(
      input, "CANN_API",
      alone ? "startNs, endNs, type, name" : "startNs, endNs, type, name, globalTid, connectionId",
      read);
}

void ReadDeviceRuns(DbInput& input) {
  Owners owners = ConnectionsOfCollectives(input.database);
  if (input.database.HasTable("TASK") && input.database.HasTable("COMPUTE_TASK_INFO")) {
    ReadKernelRuns(input, owners);
  }
  if (input.database.HasTable("COMMUNICATION_OP")) ReadCollectiveRuns(input, owners);
}

void ReadGarbageCollections(DbInput& input) {
  if (!input.database.HasTable("GC_RECORD")) return;
  io::Statement rows =
      input.database.Query("SELECT startNs, endNs FROM GC_RECORD ORDER BY startNs, rowid");
  while (rows.Step()) {
    const auto span = ReadSpan(input, rows.row(), 0, 1, "GC_RECORD");
    if (span) input.trace.garbage_collections.Append({.start = span->start, .dur = span->dur});
  }
}

void ReadSystemCalls(DbInput& input) {
  input.trace.system_calls.Reserve(
      input.database.HasTable("OSRT_API") ? input.database.ApproximateRows("OSRT_API") : 0);
  const auto read = [&](const DbSpan& span, const io::Row& row) {
    CountIfNull(input, row, 3, "globalTid", "OSRT_API", "the thread of a system call");
    const std::int64_t thread = row.IntOr(3, -1);
    input.trace.system_calls.Append({.start = span.start,
                                     .dur = span.dur,
                                     .process = thread < 0 ? -1 : thread >> 32,
                                     .thread = thread < 0 ? -1 : thread & 0xffffffff,
                                     .name = FilledText(input, row, 2, "name", "OSRT_API")});
  };
  ScanSpans(input, "OSRT_API", "startNs, endNs, name, globalTid", read);
}

}  // namespace mpa::readers
