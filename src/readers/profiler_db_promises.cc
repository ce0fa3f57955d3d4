// SPDX-License-Identifier: Apache-2.0
// What the tables of a profiler database promise each other: what launched and what was launched,
// what a table says of the rows of another. The checks look at what was read anyway.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/by_number.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/capture/monitor.h"
#include "mpa/capture/recorded_settings.h"
#include "mpa/io/json_document.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/step_bounds.h"
#include "profiler_db_tables.h"

namespace mpa::readers {
namespace {

// What is known of a connection.
struct Connection {
  TimeNs launched = -1;
  std::int32_t track = -1;
  std::uint32_t operators = 0;
  bool has_work = false;
};

struct CaptureCalls {
  TimeNs begin = -1, end = -1;
};

// From the first to the last call around which a graph was captured: launches in it run nothing.
CaptureCalls GraphCaptures(DbInput& input) {
  CaptureCalls calls;
  if (!input.database.HasTable("CANN_API") || !input.database.HasTable("STRING_IDS")) return calls;
  io::Statement rows = input.database.Query(
      "SELECT MIN(startNs), MAX(endNs) FROM CANN_API WHERE name IN (SELECT id FROM STRING_IDS"
      " WHERE value LIKE '%CaptureBegin%' OR value LIKE '%CaptureEnd%')");
  if (rows.Step()) calls = {TimeOrNone(rows.row(), 0), TimeOrNone(rows.row(), 1)};
  return calls;
}

// A connection of one operator alone is a launch: those that lead from a forward to a backward
// operator, or through the queue, have two.
void FindUnanswered(DbInput& input, ByNumber<Connection>& connections) {
  RankTrace& trace = input.trace;
  const Launches& launches = trace.launches;
  std::vector<std::size_t> lost;
  for (std::size_t i = 0; i < launches.Size(); ++i) {
    const Connection* connection = connections.Find(launches.link[i]);
    if (connection->operators == 1 && !connection->has_work) lost.push_back(i);
  }
  if (lost.empty()) return;
  const CaptureCalls captures = GraphCaptures(input);
  std::erase_if(lost, [&](std::size_t i) {
    const TimeNs time = launches.host_time[i];
    return captures.begin >= 0 && time >= captures.begin && time <= captures.end;
  });
  for (const std::size_t i : lost) {
    trace.unanswered_launches.Append(
        {.time = launches.host_time[i], .track = launches.host_track[i]});
  }
  trace.launches.Filter([&](std::size_t row) { return !std::ranges::binary_search(lost, row); });
}

// The clocks of host and device are joined to within some microseconds.
void LeaveOutEarlyWork(DbInput& input, ByNumber<Connection>& connections) {
  constexpr TimeNs kOfClocks = 1'000'000;
  const auto lead = [&](const auto& table, std::size_t row) {
    const Connection* connection = connections.Find(table.link[row]);
    return connection != nullptr && connection->operators == 1
               ? connection->launched - table.start[row]
               : TimeNs{-1};
  };
  RankTrace& trace = input.trace;
  std::size_t early = 0, all = 0;
  const auto count = [&](const auto& table) {
    all += table.Size();
    for (std::size_t i = 0; i < table.Size(); ++i) early += lead(table, i) > kOfClocks ? 1 : 0;
  };
  count(trace.kernels);
  count(trace.communications);
  count(trace.device_tasks);
  // Where much of it is early the clocks are wrong, which is said of all formats.
  if (early == 0) return;
  if (4 * early > all) {
    trace.issues.Count(Promise::kTimesPossible,
                       "the clocks of host and device do not fit, waits between them are wrong",
                       Say("{} of {} rows begin before their launch", early, all));
    return;
  }
  const auto leave_out = [&](auto& table, bool is_kernel) {
    std::vector<bool> kept(table.Size(), true);
    for (std::size_t i = 0; i < table.Size(); ++i) {
      const TimeNs time = lead(table, i);
      kept[i] = time <= kOfClocks;
      if (kept[i]) continue;
      trace.issues.Count(
          Promise::kWorkAfterLaunch,
          "work left out, it begins before its launch: its time is wrong; collect again",
          Say("{}: connectionId {}, {:.3f} ms before", input.database.name(), table.link[i],
              InMs(time)));
    }
    const auto keep = [&](std::size_t row) { return static_cast<bool>(kept[row]); };
    if (is_kernel && !trace.kernel_loads.Empty()) trace.kernel_loads.Filter(keep);
    table.Filter(keep);
  };
  leave_out(trace.kernels, true);
  leave_out(trace.communications, false);
  leave_out(trace.device_tasks, false);
}

// Where operators were not asked for: the connections that occur once, and no task has.
void FindUnansweredConnections(DbInput& input) {
  if (!input.database.HasTable("CONNECTION_IDS") || !input.database.HasTable("PYTORCH_API")) return;
  std::vector<std::int64_t> ids;
  ids.reserve(input.database.ApproximateRows("CONNECTION_IDS"));
  input.database.Scan("connectionId", "CONNECTION_IDS NOT INDEXED",
                      [&](const io::Row& row) { ids.push_back(Link(row, 0)); });
  ByNumber<Connection> connections(ids);
  for (const std::int64_t id : ids) ++connections.Find(id)->operators;
  input.tasks->ForEach([&](const io::Row& row) {
    if (Connection* of_task = connections.Find(Link(row, kTaskConnection)))
      of_task->has_work = true;
  });
  std::erase_if(ids, [&](std::int64_t id) {
    const Connection& connection = *connections.Find(id);
    return connection.operators != 1 || connection.has_work || id < 0;
  });
  if (ids.empty()) return;
  // Few captures come here: not those of the queue, whose work ended with the profiler.
  const CaptureCalls captures = GraphCaptures(input);
  std::ranges::sort(ids);
  input.database.Scan(
      "p.startNs, c.connectionId",
      "PYTORCH_API p JOIN CONNECTION_IDS c ON c.id = p.connectionId WHERE p.type = 50001",
      [&](const io::Row& row) {
        const TimeNs time = TimeOrNone(row, 0);
        if (!std::ranges::binary_search(ids, Link(row, 1))) return;
        if (captures.begin >= 0 && time >= captures.begin && time <= captures.end) return;
        input.trace.unanswered_launches.Append({.time = time});
      });
}

void CheckLaunches(DbInput& input) {
  RankTrace& trace = input.trace;
  if (input.own_device) return;
  if (!Intersects(input.wanted, Tables::kLaunches)) {
    if (input.tasks) FindUnansweredConnections(input);
    return;
  }
  if (trace.launches.Empty()) return;
  const bool with_tasks = Intersects(input.wanted, Tables::kDeviceTasks);
  if ((!with_tasks && !input.tasks) || !input.database.HasTable("TASK")) return;
  ByNumber<Connection> connections(trace.launches.link);
  for (std::size_t i = 0; i < trace.launches.Size(); ++i) {
    Connection& connection = *connections.Find(trace.launches.link[i]);
    ++connection.operators;
    connection.launched = trace.launches.host_time[i];
  }
  const auto answer = [&](std::int64_t link) {
    if (Connection* connection = connections.Find(link)) connection->has_work = true;
  };
  if (with_tasks)
    for (const std::int64_t link : trace.device_tasks.link) answer(link);
  else
    input.tasks->ForEach([&](const io::Row& row) { answer(Link(row, kTaskConnection)); });
  for (const std::int64_t link : trace.communications.link) answer(link);
  FindUnanswered(input, connections);
  LeaveOutEarlyWork(input, connections);
}

// Rows that were deleted leave gaps in the numbers of the others.
void CheckRows(DbInput& input) {
  const auto check = [&](const std::string& table, std::int64_t rows) {
    const std::int64_t lost = input.database.LostRows(table, rows);
    if (lost == 0) return;
    input.trace.issues.Count(
        Promise::kFileIsWhole,
        Say("rows of {} were deleted, what is counted from them is too small; copy or"
            " parse the capture again",
            table),
        Say("{}: {} of {}", input.database.name(), lost, lost + rows));
  };
  for (const auto& [table, rows] : input.database.WholeTables()) check(table, rows);
  if (input.trace.host_ops.Empty() || input.database.WholeTables().contains("PYTORCH_API")) return;
  io::Statement count = input.database.Query("SELECT COUNT(*) FROM PYTORCH_API");
  if (count.Step()) check("PYTORCH_API", count.IntOr(0, 0));
}

// Lists of connections are numbered in the order of their operators, so that the first and the last
// tell whether operators are missing at the ends. Gaps tell it elsewhere.
void CheckLists(DbInput& input) {
  const io::Database& database = input.database;
  if (!database.HasTable("PYTORCH_API") || !HasRows(database, "CONNECTION_IDS")) return;
  io::Statement ends = database.Query("SELECT MIN(id), MAX(id) FROM CONNECTION_IDS");
  if (!ends.Step() || ends.IsNull(0)) return;
  const auto has = [&](int column, const char* order) {
    return database
        .Query(fmt::format("SELECT 1 FROM PYTORCH_API WHERE connectionId = {} ORDER BY rowid {}"
                           " LIMIT 1",
                           ends.IntOr(column, 0), order))
        .Step();
  };
  if (has(0, "ASC") && has(1, "DESC")) return;
  input.trace.issues.Count(
      Promise::kReferences,
      "operators are missing in PYTORCH_API, CONNECTION_IDS has what they launched: numbers of"
      " operators are too small; parse again",
      database.name());
}

// Tables that are never empty.
void CheckFilled(DbInput& input) {
  for (const char* table : {"STRING_IDS", "META_DATA", "ENUM_API_TYPE"}) {
    if (!input.database.HasTable(table) || HasRows(input.database, table)) continue;
    input.trace.issues.Count(
        Promise::kFileIsWhole,
        Say("table {} is empty, what it says is unknown; copy or parse the capture again", table),
        input.database.name());
  }
}

// True if the job has groups of several ranks, false if all are of one; empty if nothing says it.
std::optional<bool> HasGroupsOfSeveral(const io::Database& database) {
  const nlohmann::json document =
      database.HasTable("META_DATA") ? ReadMetaData(database) : nlohmann::json();
  const nlohmann::json& groups = io::Member(document, "parallel_group_info");
  if (!groups.is_object() || groups.empty()) return std::nullopt;
  return std::ranges::any_of(groups, [](const nlohmann::json& group) {
    const nlohmann::json& ranks = io::Member(group, "global_ranks");
    return ranks.is_array() && ranks.size() > 1;
  });
}

// Communication that was not recorded is not none.
void CheckCommunicationIsRecorded(DbInput& input) {
  const io::Database& database = input.database;
  if (HasRows(database, "COMMUNICATION_OP")) return;
  const std::optional<bool> has_groups = HasGroupsOfSeveral(database);
  if (has_groups == false) return;
  const auto has_name = [&](const char* patterns) {
    return database.HasTable("STRING_IDS") &&
           database.Query(fmt::format("SELECT 1 FROM STRING_IDS WHERE {} LIMIT 1", patterns))
               .Step();
  };
  const bool kind_is_off =
      IsOfMonitor(input.database.name()) && !database.HasTable("COMMUNICATION_OP");
  // Operators of a CPU group are called c10d, too.
  const bool communicates =
      has_name("value GLOB 'Hccl[ABRS]*' OR value GLOB 'Dequeue@Hccl[ABRS]*'") ||
      HasRows(database, "COMMUNICATION_TASK_INFO") ||
      (has_groups && (kind_is_off || has_name("value GLOB 'c10d::*'")));
  if (!communicates) return;
  input.trace.issues.Count(
      Promise::kCommunicationRecorded,
      IsOfMonitor(input.database.name())
          ? "communication was not recorded, its times are unknown and count as free; collect"
            " the activity kind Communication, too"
          : "operators communicate, but table COMMUNICATION_OP is missing or empty: times of"
            " communication are unknown and count as free; parse or collect again",
      database.name());
}

// Two columns that exporters write together.
void CheckColumns(DbInput& input) {
  struct Pair {
    const char *table, *one, *other;
  };
  constexpr Pair kPairs[] = {{"PYTORCH_API", "inputShapes", "inputDtypes"},
                             {"COMMUNICATION_TASK_INFO", "srcRank", "dstRank"},
                             {"COMMUNICATION_TASK_INFO", "transportType", "size"}};
  for (const auto& [table, one, other] : kPairs) {
    const bool has_one = input.database.HasColumn(table, one);
    if (has_one == input.database.HasColumn(table, other)) continue;
    input.trace.issues.Count(Promise::kColumnsThere,
                             Say("column {} of {} is missing, its values are unknown; parse"
                                 " again",
                                 has_one ? other : one, table),
                             input.database.name());
  }
}

// Each marked step has its row.
void CheckSteps(DbInput& input) {
  const RankTrace& trace = input.trace;
  if (!Intersects(input.wanted, Tables::kSteps) || !input.database.HasTable("STEP_TIME")) return;
  NamedClasses is_step(trace.strings, IsProfilerStep);
  std::set<StringId> marked;
  for (const StringId name : trace.host_ops.name) {
    if (is_step.Of(name)) marked.insert(name);
  }
  if (marked.size() <= trace.steps.Size()) return;
  input.trace.issues.Count(
      Promise::kTablesAgree,
      "steps are missing in STEP_TIME, PYTORCH_API has more of them: sums and means of steps lack"
      " them; parse again",
      Say("{}: {} of {}", input.database.name(), trace.steps.Size(), marked.size()));
}

}  // namespace

void CheckPromisesOfTables(DbInput& input) {
  CheckFilled(input);
  CheckRows(input);
  CheckColumns(input);
  if (Intersects(input.wanted, Tables::kHostOps | Tables::kLaunches)) CheckLists(input);
  if (Intersects(input.wanted, Tables::kCommunications)) CheckCommunicationIsRecorded(input);
  CheckSteps(input);
  CheckLaunches(input);
}

void CheckDetails(DbInput& input, const std::vector<std::int64_t>& detailed) {
  // Of the tasks of one launch at least one has details; those of collectives have others.
  std::vector<std::int64_t> of_collectives;
  ScanTable(input.database, "COMMUNICATION_OP", "connectionId",
            [&](const io::Row& row) { of_collectives.push_back(Link(row, 0)); });
  if (HasRows(input.database, "COMMUNICATION_SCHEDULE_TASK_INFO")) return;
  ByNumber<char> has_details(detailed);
  ByNumber<char> is_collective(of_collectives);
  const auto set = [](ByNumber<char>& of, const std::vector<std::int64_t>& numbers) {
    for (const std::int64_t number : numbers) *of.Find(number) = 1;
  };
  set(has_details, detailed);
  set(is_collective, of_collectives);
  const auto has = [](ByNumber<char>& of, std::int64_t number) {
    const char* value = of.Find(number);
    return value != nullptr && *value != 0;
  };
  std::size_t without = 0;
  TimeNs time = 0;
  std::vector<std::pair<std::int64_t, bool>> types;  // few
  input.tasks->ForEach([&](const io::Row& row) {
    const std::int64_t type = row.IntOr(kTaskType, -1);
    auto known = std::ranges::find(types, type, &std::pair<std::int64_t, bool>::first);
    if (known == types.end()) {
      const std::string_view name = input.trace.strings.View(input.strings.Text(row, kTaskType));
      types.emplace_back(type, IsOneOf(name, {"KERNEL_AICORE", "KERNEL_AIVEC", "KERNEL_MIX_AIC",
                                              "KERNEL_MIX_AIV", "MIX_AIC", "MIX_AIV"}));
      known = std::prev(types.end());
    }
    const std::int64_t link = Link(row, kTaskConnection);
    if (!known->second || link < 0 || has(has_details, link) || has(is_collective, link)) return;
    ++without;
    time += row.IntOr(kTaskEnd, 0) - row.IntOr(kTaskStart, 0);
  });
  if (without == 0) return;
  input.trace.issues.Count(
      Promise::kReferences,
      "kernels of TASK are not in COMPUTE_TASK_INFO: computing is too small; parse again",
      Say("{}: {} kernels, {:.3f} ms", input.database.name(), without, InMs(time)));
}

void CheckTasksOfCollectives(DbInput& input, std::size_t described) {
  ByNumber<char> is_collective(input.trace.communications.link);
  for (const std::int64_t link : input.trace.communications.link) *is_collective.Find(link) = 1;
  std::size_t tasks = 0;
  input.tasks->ForEach([&](const io::Row& row) {
    const char* of_collective = is_collective.Find(Link(row, kTaskConnection));
    if (of_collective != nullptr && *of_collective != 0 && IsOfCollective(input, row)) ++tasks;
  });
  if (described >= tasks) return;
  input.trace.issues.Count(
      Promise::kReferences,
      "tasks of collectives are not in COMMUNICATION_TASK_INFO: their waits and traffic are too"
      " small; parse again",
      Say("{}: {} of {}", input.database.name(), tasks - described, tasks));
}

bool IsOfCollective(DbInput& input, const io::Row& task) {
  const std::string_view type = input.trace.strings.View(input.strings.Text(task, kTaskType));
  return IsOneOf(type, {"Notify Wait", "SDMA", "Write Value"}) && Link(task, kTaskConnection) >= 0;
}

}  // namespace mpa::readers
