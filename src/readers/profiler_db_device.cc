// SPDX-License-Identifier: Apache-2.0
// Device side of a profiler database: kernels with counters, tasks, collectives.
#include <fmt/format.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "collective_kernel.h"
#include "comm_task_facts.h"
#include "job_info.h"
#include "kernel_load_columns.h"
#include "megahertz.h"
#include "mpa/base/log.h"
#include "mpa/model/device_tasks.h"
#include "process_groups.h"
#include "profiler_db_tables.h"

namespace mpa::readers {
StringId RecordedText(StringId text, const StringPool& strings) {
  return strings.View(text) == "N/A" ? StringId::kEmpty : text;
}

std::string OfTasks(const char* table) {
  return fmt::format("TASK t NOT INDEXED CROSS JOIN {} i ON i.globalTaskId = t.globalTaskId",
                     table);
}

namespace {

// The column of Kernels that a counter of TASK_PMU_INFO goes to; null for the others.
std::vector<TimeNs> Kernels::*CounterColumnOf(std::string_view name) {
  if (name == "aic_total_time" || name == "aicore_time") return &Kernels::aic_total;
  if (name == "aic_mac_time" || name == "mac_time") return &Kernels::aic_mac;
  if (name == "aic_mte2_time") return &Kernels::aic_mte2;
  if (name == "aiv_total_time" || name == "aiv_time") return &Kernels::aiv_total;
  if (name == "aiv_vec_time") return &Kernels::aiv_vec;
  return nullptr;
}

// The same for KernelLoads.
std::vector<std::int16_t> KernelLoads::*LoadColumnOf(std::string_view name) {
  for (const LoadCounter& counter : kLoadCounters) {
    if (counter.IsCalled(name)) return counter.column;
  }
  return nullptr;
}

std::vector<TimeNs> KernelLoads::*LoadTimeColumnOf(std::string_view name) {
  for (const LoadTime& time : kLoadTimes) {
    if (time.name == name) return time.column;
  }
  return nullptr;
}

void ReadCounters(DbInput& input, bool with_loads) {
  if (!input.database.HasTable("TASK_PMU_INFO")) return;
  Kernels& kernels = input.trace.kernels;
  std::unordered_map<std::int64_t, std::size_t> kernel_of_task;
  kernel_of_task.reserve(kernels.Size());
  for (std::size_t i = 0; i < kernels.Size(); ++i) kernel_of_task[kernels.task_id[i]] = i;
  input.database.Scan("globalTaskId, name, value", "TASK_PMU_INFO", [&](const io::Row& row) {
    const std::string_view name = input.trace.strings.View(input.strings.Text(row, 1));
    const auto column = CounterColumnOf(name);
    const auto load = column == nullptr && with_loads ? LoadColumnOf(name) : nullptr;
    const auto load_time = column == nullptr && with_loads ? LoadTimeColumnOf(name) : nullptr;
    if (column == nullptr && load == nullptr && load_time == nullptr) return;
    const auto kernel = kernel_of_task.find(row.IntOr(0, -1));
    if (load != nullptr) {
      if (kernel == kernel_of_task.end()) return;
      (input.trace.kernel_loads.*load)[kernel->second] = Thousandths(row.RealOr(2, -1));
      return;
    }
    const auto value = row.Int(2);
    if (kernel == kernel_of_task.end() || !value) return;
    if (IsDuration(*value)) {
      std::vector<TimeNs>& times =
          column != nullptr ? kernels.*column : input.trace.kernel_loads.*load_time;
      times[kernel->second] = *value;
    } else {
      input.trace.issues.Count("counter left out, invalid value",
                               fmt::format("{}: table TASK_PMU_INFO", input.database.name()));
    }
  });
}

// A number for which the largest 32-bit value means none.
std::int64_t RecordedNumber(std::int64_t number) { return number == 4294967295 ? -1 : number; }

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
  if (!input.database.HasTable(table)) return names;
  io::Statement rows = input.database.Query(fmt::format("SELECT id, name FROM {}", table));
  while (rows.Step()) {
    if (const auto id = rows.Int(0)) {
      names[*id] = input.trace.strings.Intern(KindOrNone(rows.Text(1)));
    }
  }
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

void ReadOperations(DbInput& input, Groups& groups) {
  if (!input.database.HasTable("COMMUNICATION_OP")) return;
  constexpr const char* kTable = "COMMUNICATION_OP";
  const std::map<std::int64_t, StringId> data_types = ReadNames(input, "ENUM_HCCL_DATA_TYPE");
  io::Statement rows = input.database.Query(
      fmt::format("SELECT startNs, endNs, opName, opType, groupName, connectionId, opId, {}, {} "
                  "FROM COMMUNICATION_OP ORDER BY opId",
                  ColumnOrNull(input.database, kTable, "dataType"),
                  ColumnOrNull(input.database, kTable, "count")));
  while (rows.Step()) {
    const io::Row row = rows.row();
    const auto span = ReadSpan(input, row, 0, 1, "COMMUNICATION_OP");
    if (!span) continue;
    input.trace.communications.Append({.start = span->start,
                                       .dur = span->dur,
                                       .name = input.strings.Text(row, 2),
                                       .op_type = input.strings.Text(row, 3),
                                       .group = groups.Of(row, 4),
                                       .link = Link(row, 5),
                                       .op_id = row.IntOr(6, -1),
                                       .data_type = NameIn(data_types, row, 7),
                                       .count = CountOf(row, 8),
                                       .connection = RecordedNumber(Link(row, 5))});
  }
}

void ReadCommTasks(DbInput& input, Groups& groups) {
  constexpr const char* kTable = "COMMUNICATION_TASK_INFO";
  if (!input.database.HasTable(kTable) || !input.database.HasTable("TASK")) return;
  const auto transports = ReadNames(input, "ENUM_HCCL_TRANSPORT_TYPE");
  const auto links = ReadNames(input, "ENUM_HCCL_LINK_TYPE");
  const auto rdma_types = ReadNames(input, "ENUM_HCCL_RDMA_TYPE");
  std::string columns = "t.startNs, t.endNs, i.taskType, i.groupName, i.planeId, t.streamId";
  for (const char* column : {"opId", "srcRank", "dstRank", "size", "transportType", "linkType",
                             "rdmaType", "notifyId"}) {
    columns += ", " + ColumnOrNull(input.database, kTable, column, "i");
  }
  input.database.Scan(columns, OfTasks(kTable), [&](const io::Row& row) {
    const auto span = ReadSpan(input, row, 0, 1, "TASK");
    if (!span) return;
    input.trace.comm_tasks.Append(
        {.start = span->start,
         .dur = span->dur,
         .name = RecordedText(input.strings.Text(row, 2), input.trace.strings),
         .group = groups.Of(row, 3),
         .plane = row.IntOr(4, -1),
         .op_id = row.IntOr(6, -1),
         .own_rank = RankInGroup(row.IntOr(7, -1)),
         .peer = RankInGroup(row.IntOr(8, -1)),
         .bytes = row.IntOr(9, -1),
         .transport = NameIn(transports, row, 10),
         .link_type = NameIn(links, row, 11),
         .rdma_type = NameIn(rdma_types, row, 12),
         .notify = NotifyOrNone(static_cast<std::uint64_t>(row.IntOr(13, -1))),
         .stream = row.IntOr(5, -1)});
  });
}

void ReadGroupNames(DbInput& input) {
  if (!input.database.HasTable("META_DATA")) return;
  io::Statement rows =
      input.database.Query("SELECT value FROM META_DATA WHERE name = 'parallel_group_info'");
  if (!rows.Step()) return;
  const auto document = nlohmann::json::parse(rows.Text(0), nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) {
    LogWarning(
        "{}: META_DATA.parallel_group_info is not valid JSON; groups keep their technical "
        "names",
        input.database.name());
    return;
  }
  NameProcessGroups(document, input.trace);
}

}  // namespace

void ReadJobInfo(DbInput& input) {
  JobInfo& job = input.trace.job;
  const io::Database& database = input.database;
  const auto document_of = [&](const char* name) {
    io::Statement rows =
        database.Query(fmt::format("SELECT value FROM META_DATA WHERE name = '{}'", name));
    return rows.Step() ? nlohmann::json::parse(rows.Text(0), nullptr, /*allow_exceptions=*/false)
                       : nlohmann::json();
  };
  if (database.HasTable("META_DATA")) {
    AddJobGroups(document_of("parallel_group_info"), job);
    SetDistributedArgs(document_of("distributed_args"), job);
    SetPipeline(document_of("pp_info"), job);
    AddEnvironment(document_of("ENV_VARIABLES"), job);
  }
  if (database.HasTable("HOST_INFO")) {
    io::Statement rows = database.Query("SELECT hostUid, hostName FROM HOST_INFO");
    if (rows.Step()) {
      job.host_uid = rows.Text(0);
      job.host_name = rows.Text(1);
    }
  }
  if (database.HasTable("RANK_DEVICE_MAP")) {
    io::Statement rows = database.Query("SELECT rankId, deviceId FROM RANK_DEVICE_MAP");
    while (rows.Step()) job.devices.push_back({rows.Int(0).value_or(-1), rows.Int(1).value_or(-1)});
  }
}

void ReadKernels(DbInput& input, Tables wanted) {
  if (!input.database.HasTable("COMPUTE_TASK_INFO") || !input.database.HasTable("TASK")) return;
  const auto optional = [&](const char* column) {
    return ColumnOrNull(input.database, "COMPUTE_TASK_INFO", column, "i");
  };
  const bool with_tensors = Overlap(wanted, Tables::kKernelTensors);
  std::string tensors;
  for (const char* column :
       {"inputDataTypes", "inputFormats", "outputShapes", "outputFormats", "hf32Eligible"}) {
    tensors += ", " + (with_tensors ? optional(column) : "NULL");
  }
  const bool with_loads = Overlap(wanted, Tables::kKernelLoads);
  for (const char* column :
       {"outputDataTypes", "blockNum", "blockDim", "mixBlockNum", "mixBlockDim"}) {
    tensors += ", " + (with_loads ? optional(column) : "NULL");
  }
  const std::string columns = fmt::format(
      "t.startNs, t.endNs, i.name, i.opType, i.taskType, t.taskType, t.streamId, t.connectionId, "
      "t.globalTaskId, {}{}",
      optional("inputShapes"), tensors);
  input.database.Scan(columns, OfTasks("COMPUTE_TASK_INFO"), [&](const io::Row& row) {
    const auto span = ReadSpan(input, row, 0, 1, "TASK");
    if (!span) return;
    const auto text = [&](int column) {
      return RecordedText(input.strings.Text(row, column), input.trace.strings);
    };
    const StringId core = text(4);
    const StringId name = input.strings.Text(row, 2);
    const StringPool& strings = input.trace.strings;
    if (IsCollectiveKernel(strings.View(core), strings.View(name))) return;
    input.trace.kernels.Append({.start = span->start,
                                .dur = span->dur,
                                .name = name,
                                .op_type = text(3),
                                .core = core != StringId::kEmpty ? core : text(5),
                                .shapes = input.strings.Text(row, 9),
                                .input_types = text(10),
                                .input_formats = text(11),
                                .output_shapes = text(12),
                                .output_formats = text(13),
                                .hf32 = text(14),
                                .task_id = row.IntOr(8, -1),
                                .stream = row.IntOr(6, -1),
                                .link = Link(row, 7)});
    if (!with_loads) return;
    // If both columns exist, blockDim is a text of graphs.
    input.trace.kernel_loads.Append(
        {.output_types = text(15),
         .blocks = BlockCount(row.Int(16) ? row.Int(16) : row.Int(17)),
         .mix_blocks = BlockCount(row.Int(18) ? row.Int(18) : row.Int(19))});
  });
  if (Overlap(wanted, Tables::kKernelCounters)) ReadCounters(input, with_loads);
}

void ReadScheduleKernels(DbInput& input) {
  constexpr const char* kTable = "COMMUNICATION_SCHEDULE_TASK_INFO";
  if (!input.database.HasTable(kTable) || !input.database.HasTable("TASK")) return;
  const std::string columns =
      fmt::format("t.startNs, t.endNs, i.name, {}, t.streamId, t.connectionId, t.globalTaskId",
                  ColumnOrNull(input.database, kTable, "opType", "i"));
  input.database.Scan(columns, OfTasks(kTable), [&](const io::Row& row) {
    const auto span = ReadSpan(input, row, 0, 1, "TASK");
    if (!span) return;
    input.trace.schedule_kernels.Append(
        {.start = span->start,
         .dur = span->dur,
         .name = input.strings.Text(row, 2),
         .op_type = RecordedText(input.strings.Text(row, 3), input.trace.strings),
         .task_id = row.IntOr(6, -1),
         .stream = row.IntOr(4, -1),
         .link = Link(row, 5)});
  });
}

void ReadDeviceId(DbInput& input) {
  if (!input.database.HasTable("RANK_DEVICE_MAP")) return;
  io::Statement rows = input.database.Query("SELECT deviceId FROM RANK_DEVICE_MAP");
  if (rows.Step()) input.trace.device_id = rows.IntOr(0, -1);
}

void ReadCoreClocks(DbInput& input) {
  if (!input.database.HasTable("AICORE_FREQ")) return;
  io::Statement rows = input.database.Query(
      "SELECT timestampNs, freq, deviceId FROM AICORE_FREQ ORDER BY timestampNs, rowid");
  const std::int64_t device = input.trace.device_id;
  while (rows.Step()) {
    const auto time = rows.Int(0);
    const auto mhz = rows.Int(1);
    if (!time || !IsTime(*time) || !mhz || !IsClock(*mhz)) continue;
    if (device < 0 || rows.IntOr(2, device) == device) {
      input.trace.core_clocks.Append({.start = *time, .mhz = *mhz});
    }
  }
}

namespace {

// Finds the tasks of collectives: by their ids or, if these were not recorded, by the connection
// that they share with the operation.
class CollectiveTasks {
 public:
  explicit CollectiveTasks(const io::Database& database)
      : tasks_(Numbers(database, "COMMUNICATION_TASK_INFO", "globalTaskId")),
        links_(Numbers(database, "COMMUNICATION_OP", "connectionId")) {
    links_.erase(0);
  }

  bool Contains(std::int64_t task_id, std::int64_t link) const {
    return tasks_.contains(task_id) || links_.contains(link);
  }

 private:
  static std::unordered_set<std::int64_t> Numbers(const io::Database& database, const char* table,
                                                  const char* column) {
    std::unordered_set<std::int64_t> numbers;
    if (!database.HasTable(table)) return numbers;
    database.Scan(column, table, [&](const io::Row& row) { numbers.insert(row.IntOr(0, 0)); });
    return numbers;
  }

  std::unordered_set<std::int64_t> tasks_, links_;
};

}  // namespace

void ReadDeviceTasks(DbInput& input) {
  if (!input.database.HasTable("TASK")) return;
  const CollectiveTasks collective_tasks(input.database);
  const auto read = [&](const io::Row& row) {
    const auto span = ReadSpan(input, row, 0, 1, "TASK");
    if (!span) return;
    const StringId type = input.strings.Text(row, 2);
    const std::int64_t task_id = row.IntOr(5, -1);
    const std::int64_t link = Link(row, 4);
    const bool is_copy =
        IsCopy(input.trace.strings.View(type)) && !collective_tasks.Contains(task_id, link);
    input.trace.device_tasks.Append({.start = span->start,
                                     .dur = span->dur,
                                     .name = is_copy ? type : StringId::kEmpty,
                                     .type = type,
                                     .task_id = task_id,
                                     .stream = row.IntOr(3, -1),
                                     .link = link,
                                     .connection = RecordedNumber(link),
                                     .model = RecordedNumber(row.IntOr(6, -1))});
  };
  const std::string model = ColumnOrNull(input.database, "TASK", "modelId");
  input.database.Scan("startNs, endNs, taskType, streamId, connectionId, globalTaskId, " + model,
                      "TASK NOT INDEXED", read);
}

void ReadCommunications(DbInput& input, Tables wanted) {
  Groups groups(input);
  ReadOperations(input, groups);
  if (Overlap(wanted, Tables::kCommTasks)) ReadCommTasks(input, groups);
  ReadGroupNames(input);
}

}  // namespace mpa::readers
