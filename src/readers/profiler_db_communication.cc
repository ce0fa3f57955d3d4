// SPDX-License-Identifier: Apache-2.0
// Collectives of a profiler database, their tasks and groups.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "comm_task_facts.h"
#include "job_info.h"
#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "mpa/capture/monitor.h"
#include "mpa/capture/recorded_settings.h"
#include "mpa/io/json_document.h"
#include "mpa/io/numbers.h"
#include "profiler_db_tables.h"

namespace mpa::readers {
namespace {

// Group numbers by the id of the group's name in the database.
class Groups {
 public:
  explicit Groups(DbInput& input) : input_(input) {}

  std::int32_t Of(const io::Row& row, int column) {
    const StringId name = input_.strings.Text(row, column);
    CommGroups& groups = input_.trace.comm_groups;
    const auto [found, is_new] =
        numbers_.try_emplace(name, static_cast<std::int32_t>(groups.Size()));
    if (is_new) groups.Append({.name = name});
    return found->second;
  }

 private:
  DbInput& input_;
  std::unordered_map<StringId, std::int32_t> numbers_;
};

// The names of the numbers in a column, from the table `table`.
std::map<std::int64_t, StringId> ReadNames(DbInput& input, const char* table) {
  std::map<std::int64_t, StringId> names;
  for (const auto& [number, name] : NamesOfNumbers(input.database, table))
    names[number] = input.trace.strings.Intern(KindOrNone(name));
  return names;
}

StringId NameIn(const std::map<std::int64_t, StringId>& names, const io::Row& row, int column) {
  const auto found = names.find(row.IntOr(column, -1));
  return found != names.end() ? found->second : StringId::kEmpty;
}

// The column is a number or the text of one.
std::int64_t CountOf(const io::Row& row, int column) {
  const auto number = io::ParseInt(row.Text(column));
  return number.value_or(row.IntOr(column, -1));
}

// Of a table with the collectives of several devices, the device whose are read. Not all versions
// write it.
std::optional<std::int64_t> DeviceOfCollectives(DbInput& input) {
  if (!input.database.HasColumn("COMMUNICATION_OP", "deviceId")) return std::nullopt;
  if (input.own_device) return input.own_device;
  std::map<std::int64_t, std::size_t> rows;
  io::Statement counts = input.database.Query(
      "SELECT deviceId, COUNT(*) FROM COMMUNICATION_OP WHERE deviceId IS NOT NULL GROUP BY 1");
  while (counts.Step()) rows[counts.IntOr(0, -1)] = static_cast<std::size_t>(counts.IntOr(1, 0));
  if (rows.size() < 2) return std::nullopt;
  const std::int64_t own = OwnDevice(input, rows);
  input.trace.issues.Count(
      Promise::kOneDevice,
      "collectives of other devices left out, the database holds several; profile each device by"
      " a process of its own",
      Say("{}: device {} is taken", input.database.name(), own));
  return own;
}

void ReadOperations(DbInput& input, Groups& groups) {
  if (!input.database.HasTable("COMMUNICATION_OP")) return;
  constexpr const char* kTable = "COMMUNICATION_OP";
  const std::optional<std::int64_t> device = DeviceOfCollectives(input);
  const std::map<std::int64_t, StringId> data_types = ReadNames(input, "ENUM_HCCL_DATA_TYPE");
  io::Statement rows = input.database.Query(
      fmt::format("SELECT {} FROM COMMUNICATION_OP {} ORDER BY opId",
                  fmt::join(ColumnsOf(input.database, kTable,
                                      "startNs, endNs, opName, opType, groupName, connectionId,"
                                      " opId, dataType?, count?"),
                            ", "),
                  device ? fmt::format("WHERE deviceId = {}", *device) : ""));
  while (rows.Step()) {
    const io::Row row = rows.row();
    const auto span = ReadSpan(input, row, 0, 1, "COMMUNICATION_OP");
    if (!span) continue;
    CountIfNull(input, row, 5, "connectionId", kTable, "the operator of a collective");
    CountIfNull(input, row, 4, "groupName", kTable, "the group of a collective");
    input.trace.communications.Append({.start = span->start,
                                       .dur = span->dur,
                                       .name = FilledText(input, row, 2, "opName", kTable),
                                       .op_type = FilledText(input, row, 3, "opType", kTable),
                                       .group = groups.Of(row, 4),
                                       .link = Link(row, 5),
                                       .op_id = row.IntOr(6, -1),
                                       .data_type = NameIn(data_types, row, 7),
                                       .count = CountOf(row, 8),
                                       .connection = RecordedNumber(Link(row, 5))});
  }
}

// Of tasks that were read anyway: TASK is by far larger than COMMUNICATION_OP.
void CountWithoutTasks(DbInput& input) {
  if (!input.database.HasTable("TASK") || IsOfMonitor(input.database.name())) return;
  const std::vector<std::int64_t>& links = input.trace.communications.link;
  std::unordered_set<std::int64_t> without_task(links.begin(), links.end());
  std::erase_if(without_task, [](std::int64_t link) { return link < 0; });
  for (const std::int64_t link : input.trace.device_tasks.link) without_task.erase(link);
  for (std::size_t i = 0; i < without_task.size(); ++i)
    CountRow(input, "collective without tasks, TASK lacks its connectionId; parse again",
             "COMMUNICATION_OP");
}

void ReadCommTasks(DbInput& input, Groups& groups) {
  constexpr const char* kTable = "COMMUNICATION_TASK_INFO";
  if (!input.database.HasTable("TASK")) return;
  if (!HasRows(input.database, kTable)) {
    if (input.trace.communications.Empty()) return;
    input.trace.lacks_comm_tasks = true;
    if (IsOfMonitor(input.database.name())) return;
    input.trace.issues.Count(
        "waits, traffic and peers of collectives are unknown, table COMMUNICATION_TASK_INFO is"
        " missing or empty; parse again",
        input.database.name());
    return;
  }
  const auto transports = ReadNames(input, "ENUM_HCCL_TRANSPORT_TYPE");
  const auto links = ReadNames(input, "ENUM_HCCL_LINK_TYPE");
  const auto rdma_types = ReadNames(input, "ENUM_HCCL_RDMA_TYPE");
  RequireColumns(input, "TASK", {"startNs", "endNs", "streamId", "globalTaskId"});
  input.trace.comm_tasks.Reserve(input.database.ApproximateRows(kTable));
  constexpr int kRow = kTaskColumns;  // the first column of the row
  const std::vector<std::int64_t>& ops = input.trace.communications.op_id;  // in their order
  std::size_t described = 0;
  const auto read = [&](const io::Row& row) {
    if (IsOfCollective(input, row)) ++described;
    const auto span = ReadSpan(input, row, kTaskStart, kTaskEnd, "TASK");
    if (!span) return;
    CountIfNull(input, row, kRow, "taskType", kTable, "the kind of a collective's task");
    const std::int64_t op = row.IntOr(kRow + 3, -1);  // NULL: the stream and the time say it
    if (op >= 0 && !input.own_device && !std::ranges::binary_search(ops, op)) {
      CountRow(input,
               "the collective of a task is unknown, COMMUNICATION_OP does not have its opId;"
               " parse again",
               kTable);
    }
    input.trace.comm_tasks.Append(
        {.start = span->start,
         .dur = span->dur,
         .name = RecordedText(input.strings.Text(row, kRow), input.trace.strings),
         .group = groups.Of(row, kRow + 1),
         .plane = row.IntOr(kRow + 2, -1),
         .op_id = op,
         .own_rank = RankInGroup(row.IntOr(kRow + 4, -1)),
         .peer = RankInGroup(row.IntOr(kRow + 5, -1)),
         .bytes = SizeOrNone(row.IntOr(kRow + 6, -1)),
         .transport = NameIn(transports, row, kRow + 7),
         .link_type = NameIn(links, row, kRow + 8),
         .rdma_type = NameIn(rdma_types, row, kRow + 9),
         .notify = NotifyOrNone(static_cast<std::uint64_t>(row.IntOr(kRow + 10, -1))),
         .stream = row.IntOr(kTaskStream, -1)});
  };
  ScanTasks(input, TasksOf(input), kTable,
            RowsByTask(input.database, kTable,
                       "taskType, groupName, planeId, opId?, srcRank?, dstRank?, size?,"
                       " transportType?, linkType?, rdmaType?, notifyId?"),
            read);
  CheckTasksOfCollectives(input, described);
}

void ReadGroupNames(DbInput& input) {
  if (!input.database.HasTable("META_DATA")) return;
  io::Statement rows =
      input.database.Query("SELECT value FROM META_DATA WHERE name = 'parallel_group_info'");
  if (!rows.Step()) return;
  const auto document = io::TryParseJson(rows.Text(0));
  if (document.is_discarded()) {
    LogWarning(
        "{}: META_DATA.parallel_group_info is not valid JSON; groups keep their technical"
        " names",
        input.database.name());
    return;
  }
  NameProcessGroups(document, input.trace);
}

}  // namespace

void ReadCommunications(DbInput& input) {
  Groups groups(input);
  ReadOperations(input, groups);
  if (Intersects(input.wanted, Tables::kDeviceTasks)) CountWithoutTasks(input);
  if (Intersects(input.wanted, Tables::kCommTasks)) ReadCommTasks(input, groups);
  ReadGroupNames(input);
}

// What a profiler database says about the job of its rank.

void ReadJobInfo(DbInput& input) {
  JobInfo& job = input.trace.job;
  const io::Database& database = input.database;
  if (database.HasTable("META_DATA")) {
    const nlohmann::json document = ReadMetaData(database);
    AddJobGroups(io::Member(document, "parallel_group_info"), job);
    SetDistributedArgs(io::Member(document, "distributed_args"), job);
    SetPipeline(io::Member(document, "pp_info"), job);
    KeepSettings(document, job);
  }
  if (database.HasTable("HOST_INFO")) {
    io::Statement rows = database.Query("SELECT hostUid, hostName FROM HOST_INFO");
    if (rows.Step()) {
      job.host_uid = rows.Text(0);
      job.host_name = rows.Text(1);
    }
  }
  if (database.HasTable("NPU_INFO")) {
    io::Statement rows = database.Query("SELECT name FROM NPU_INFO");
    if (rows.Step()) job.chip = rows.Text(0);
  }
  if (database.HasTable("RANK_DEVICE_MAP")) {
    io::Statement rows = database.Query("SELECT rankId, deviceId FROM RANK_DEVICE_MAP");
    while (rows.Step()) job.devices.push_back({rows.Int(0).value_or(-1), rows.Int(1).value_or(-1)});
  }
}

void ReadDeviceId(DbInput& input) {
  if (!input.database.HasTable("RANK_DEVICE_MAP")) return;
  io::Statement rows = input.database.Query("SELECT deviceId FROM RANK_DEVICE_MAP");
  if (rows.Step()) input.trace.device_id = rows.IntOr(0, -1);
}

}  // namespace mpa::readers
