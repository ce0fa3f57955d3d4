// SPDX-License-Identifier: Apache-2.0
// Device side of a profiler database: kernels with counters, tasks.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernel_load_columns.h"
#include "megabytes.h"
#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/model/device_tasks.h"
#include "profiler_db_tables.h"

namespace mpa::readers {

StringId RecordedText(StringId text, const StringPool& strings) {
  return strings.View(text) == "N/A" ? StringId::kEmpty : text;
}

std::int64_t OwnDevice(DbInput& input, const std::map<std::int64_t, std::size_t>& rows) {
  if (input.database.HasTable("RANK_DEVICE_MAP")) {
    io::Statement map = input.database.Query("SELECT deviceId, rankId FROM RANK_DEVICE_MAP");
    std::int64_t device = -1;
    while (map.Step()) {
      const std::int64_t row_id = map.IntOr(0, -1);
      if (!rows.contains(row_id)) continue;
      const bool is_own = map.IntOr(1, -1) == input.trace.rank;
      if (device < 0 || is_own) device = row_id;
      if (is_own) break;
    }
    if (device >= 0) return device;
  }
  return std::ranges::max_element(rows, {}, [](const auto& of) { return of.second; })->first;
}

namespace {

// One process may use several devices, whose work is in one table then.
void KeepOneDevice(DbInput& input) {
  const io::KeptRows& all = *input.tasks;
  std::optional<std::int64_t> first;
  bool several = false;
  for (std::size_t row = 0; row < all.Size() && !several; ++row) {
    const auto device = all.Number(row, kTaskDevice);
    if (device && !first) first = device;
    several = device && *device != *first;
  }
  if (!several) return;
  std::map<std::int64_t, std::size_t> tasks;
  for (std::size_t row = 0; row < all.Size(); ++row) {
    if (const auto device = all.Number(row, kTaskDevice)) ++tasks[*device];
  }
  const std::int64_t own = OwnDevice(input, tasks);
  io::KeptRows kept(all.Columns());
  all.ForEach([&](const io::Row& row) {
    if (row.IntOr(kTaskDevice, own) == own) kept.Append(row);
  });
  input.trace.issues.Count(
      Promise::kOneDevice,
      "work of other devices left out, the database holds several; profile each device by a"
      " process of its own",
      Say("{}: {} of {} rows of TASK; device {} is taken", input.database.name(),
          all.Size() - kept.Size(), all.Size(), own));
  input.own_device = own;
  input.trace.device_id = own;
  input.tasks = std::move(kept);
}

}  // namespace

namespace {

io::KeptRows KeepTasks(const io::Database& database, Tables wanted) {
  std::vector<std::string> columns =
      ColumnsOf(database, "TASK",
                "startNs?, endNs?, taskType?, streamId?, connectionId?, modelId?, taskId?,"
                " deviceId?, globalTaskId?");
  if (!Intersects(wanted, Tables::kDeviceTasks))
    columns[kTaskModel] = columns[kTaskNumber] = "NULL";
  return database.Keep(columns, "TASK");
}

// The tensors come before the loads, if both are wanted.
io::KeyedRows KeepDetails(const io::Database& database, Tables wanted) {
  std::string columns = "name, opType, taskType, inputShapes?";
  if (Intersects(wanted, Tables::kKernelTensors))
    columns += ", inputDataTypes?, inputFormats?, outputShapes?, outputFormats?, hf32Eligible?";
  if (Intersects(wanted, Tables::kKernelLoads))
    columns += ", outputDataTypes?, blockNum?, blockDim?, mixBlockNum?, mixBlockDim?, attrInfo?";
  return RowsByTask(database, "COMPUTE_TASK_INFO", columns);
}

}  // namespace

const io::KeptRows& TasksOf(DbInput& input) {
  if (!input.tasks) {
    input.tasks =
        input.ahead.tasks ? std::move(*input.ahead.tasks) : KeepTasks(input.database, input.wanted);
    KeepOneDevice(input);
  }
  return *input.tasks;
}

io::KeyedRows RowsByTask(const io::Database& database, const char* table,
                         std::string_view columns) {
  return database.KeepByKey("globalTaskId", ColumnsOf(database, table, columns), table);
}

KernelRows ReadKernelsAhead(const std::filesystem::path& path, Tables wanted) {
  constexpr std::size_t kLeastRows = 10'000;  // fewer are not worth a connection
  KernelRows rows;
  try {
    const io::Database database(path);
    if (database.ApproximateRows("COMPUTE_TASK_INFO") < kLeastRows) return {};
    rows.tasks = KeepTasks(database, wanted);
    rows.details = KeepDetails(database, wanted);
  } catch (const Error&) {
    return {};
  }
  return rows;
}

void RequireColumns(const DbInput& input, const char* table,
                    const std::vector<std::string>& columns) {
  input.database.Query(fmt::format("SELECT {} FROM {}", fmt::join(columns, ", "), table));
}

void CountLostRows(DbInput& input, const char* table, std::size_t lost) {
  if (input.own_device) return;  // whose tasks were left out
  for (; lost > 0; --lost)
    CountRow(input, "row left out, TASK does not have its globalTaskId; parse again", table);
}

namespace {

void ReadCounters(DbInput& input, bool with_loads) {
  if (!input.database.HasTable("TASK_PMU_INFO")) return;
  const Kernels& kernels = input.trace.kernels;
  std::unordered_map<std::int64_t, std::size_t> kernel_of_task;
  kernel_of_task.reserve(kernels.Size());
  for (std::size_t i = 0; i < kernels.Size(); ++i) kernel_of_task[kernels.task_id[i]] = i;
  std::unordered_map<StringId, CounterColumns> columns_of;
  // The counters of a task stand together.
  std::int64_t task = -1;
  auto kernel = kernel_of_task.find(task);
  input.database.Scan("globalTaskId, name, value", "TASK_PMU_INFO", [&](const io::Row& row) {
    const StringId name = input.strings.Text(row, 1);
    const auto [columns, is_new] = columns_of.try_emplace(name);
    if (is_new)
      columns->second = CounterColumnsOf(input.trace.strings.View(name), input.trace.kernels,
                                         with_loads ? &input.trace.kernel_loads : nullptr);
    const auto [times, loads] = columns->second;
    const bool is_other = with_loads && times == nullptr && loads == nullptr &&
                          IsOtherCounter(input.trace.strings.View(name));
    if (times == nullptr && loads == nullptr && !is_other) return;
    CountIfNull(input, row, 0, "globalTaskId", "TASK_PMU_INFO", "the kernel of a counter");
    if (const std::int64_t row_id = row.IntOr(0, -1); row_id != task) {
      task = row_id;
      kernel = kernel_of_task.find(task);
    }
    if (kernel == kernel_of_task.end()) return;
    if (is_other) {
      const double value = row.RealOr(2, NAN);
      if (std::isfinite(value))
        SetCounter(name, value, input.trace.counter_names,
                   input.trace.kernel_loads.counters[kernel->second]);
      return;
    }
    if (loads != nullptr) {
      (*loads)[kernel->second] = Thousandths(row.RealOr(2, -1));
      return;
    }
    const auto value = row.Int(2);
    if (!value) return;
    if (IsDuration(*value)) {
      (*times)[kernel->second] = *value;
    } else {
      CountRow(input, "counter left out, invalid value", "TASK_PMU_INFO");
    }
  });
}

// Finds the tasks of collectives: by their ids or, if these were not recorded, by the connection
// that they share with the operation.
class CollectiveTasks {
 public:
  explicit CollectiveTasks(const io::Database& database)
      : tasks_(Numbers(database, "COMMUNICATION_TASK_INFO", "globalTaskId")),
        links_(Numbers(database, "COMMUNICATION_OP", "connectionId")) {}

  bool Contains(std::int64_t task_id, std::int64_t link) const {
    return std::ranges::binary_search(tasks_, task_id) ||
           (link != 0 && std::ranges::binary_search(links_, link));
  }

 private:
  // Ascending.
  static std::vector<std::int64_t> Numbers(const io::Database& database, const char* table,
                                           const char* column) {
    std::vector<std::int64_t> numbers;
    numbers.reserve(database.ApproximateRows(table));
    ScanTable(database, table, column,
              [&](const io::Row& row) { numbers.push_back(row.IntOr(0, 0)); });
    if (!std::ranges::is_sorted(numbers)) std::ranges::sort(numbers);
    return numbers;
  }

  std::vector<std::int64_t> tasks_, links_;
};

// True for the type of a task that computes, as the runtime or the device calls it.
bool IsComputeTask(std::string_view type) {
  return CoreNamed(type) != Core::kUnknown ||
         IsOneOf(type, {"AI_CPU", "KERNEL_AICPU", "DSA", "DSA_SQE", "STARS_COMMON"});
}

void RequireColumnsOfWork(const DbInput& input) {
  RequireColumns(input, "TASK",
                 {"startNs", "endNs", "taskType", "streamId", "connectionId", "globalTaskId"});
}

// The kernels of a database whose table of details is lost: times alone, their classes are unknown.
void ReadKernelsWithoutDetails(DbInput& input, bool with_loads) {
  const CollectiveTasks collective_tasks(input.database);
  RequireColumnsOfWork(input);
  const auto read = [&](const io::Row& row) {
    const StringId type = input.strings.Text(row, kTaskType);
    const std::int64_t task_id = row.IntOr(kTaskId, -1), link = Link(row, kTaskConnection);
    if (!IsComputeTask(input.trace.strings.View(type)) || collective_tasks.Contains(task_id, link))
      return;
    const auto span = ReadSpan(input, row, kTaskStart, kTaskEnd, "TASK");
    if (!span) return;
    input.trace.issues.Count(
        "kernel has no name, type and shapes, table COMPUTE_TASK_INFO is missing or empty: its"
        " class is unknown; parse again",
        input.database.name());
    input.trace.kernels.Append({.start = span->start,
                                .dur = span->dur,
                                .task_id = task_id,
                                .stream = row.IntOr(kTaskStream, -1),
                                .link = link});
    if (with_loads) input.trace.kernel_loads.Append({});
  };
  TasksOf(input).ForEach(read);
}

}  // namespace

void ReadKernels(DbInput& input) {
  constexpr int kRow = kTaskColumns;  // the first column of the row
  if (!input.database.HasTable("TASK")) {
    if (HasRows(input.database, "COMPUTE_TASK_INFO")) {
      input.trace.issues.Count(
          "kernels have no times, table TASK is missing: computing is unknown; parse again",
          input.database.name());
    }
    return;
  }
  if (!HasRows(input.database, "COMPUTE_TASK_INFO")) {
    ReadKernelsWithoutDetails(input, Intersects(input.wanted, Tables::kKernelLoads));
    return;
  }
  RequireColumnsOfWork(input);
  const bool with_tensors = Intersects(input.wanted, Tables::kKernelTensors);
  const bool with_loads = Intersects(input.wanted, Tables::kKernelLoads);
  const int load = with_tensors ? kRow + 9 : kRow + 4;  // its first column
  const std::size_t rows = input.database.ApproximateRows("COMPUTE_TASK_INFO");
  input.trace.kernels.Reserve(rows);
  if (with_loads) input.trace.kernel_loads.Reserve(rows);
  std::vector<std::int64_t> detailed;
  detailed.reserve(rows);
  const auto read = [&](const io::Row& row) {
    detailed.push_back(Link(row, kTaskConnection));
    const auto span = ReadSpan(input, row, kTaskStart, kTaskEnd, "TASK");
    if (!span) return;
    const auto text = [&](int column) {
      return RecordedText(input.strings.Text(row, column), input.trace.strings);
    };
    const auto filled = [&](int column, const char* title) {
      return RecordedText(FilledText(input, row, column, title, "COMPUTE_TASK_INFO"),
                          input.trace.strings);
    };
    const StringId core = filled(kRow + 2, "taskType");
    const StringId name = FilledText(input, row, kRow, "name", "COMPUTE_TASK_INFO");
    const StringPool& strings = input.trace.strings;
    if (IsHcclKernel(strings.View(core), strings.View(name))) return;
    CountIfNull(input, row, kTaskConnection, "connectionId", "TASK", "the operator of a task");
    Kernels::Row kernel{.start = span->start,
                        .dur = span->dur,
                        .name = name,
                        .op_type = filled(kRow + 1, "opType"),
                        .core = core != StringId::kEmpty ? core : text(kTaskType),
                        .shapes = input.strings.Text(row, kRow + 3),
                        .task_id = row.IntOr(kTaskId, -1),
                        .stream = row.IntOr(kTaskStream, -1),
                        .link = Link(row, kTaskConnection)};
    if (with_tensors) {
      kernel.input_types = text(kRow + 4);
      kernel.input_formats = text(kRow + 5);
      kernel.output_shapes = text(kRow + 6);
      kernel.output_formats = text(kRow + 7);
      kernel.hf32 = text(kRow + 8);
    }
    input.trace.kernels.Append(kernel);
    if (!with_loads) return;
    // If both columns exist, blockDim is a text of graphs.
    const auto count = [&](int column) {
      return BlockCount(row.Int(column) ? row.Int(column) : row.Int(column + 1));
    };
    input.trace.kernel_loads.Append({.output_types = text(load),
                                     .blocks = count(load + 1),
                                     .mix_blocks = count(load + 3),
                                     .attributes = text(load + 5)});
  };
  const io::KeptRows& tasks = TasksOf(input);
  ScanTasks(input, tasks, "COMPUTE_TASK_INFO",
            input.ahead.details ? *std::exchange(input.ahead.details, {})
                                : KeepDetails(input.database, input.wanted),
            read);
  CheckDetails(input, detailed);
  if (Intersects(input.wanted, Tables::kKernelCounters)) ReadCounters(input, with_loads);
}

void ReadScheduleKernels(DbInput& input) {
  constexpr const char* kTable = "COMMUNICATION_SCHEDULE_TASK_INFO";
  if (!input.database.HasTable(kTable) || !input.database.HasTable("TASK")) return;
  RequireColumns(input, "TASK", {"startNs", "endNs", "streamId", "connectionId", "globalTaskId"});
  const auto read = [&](const io::Row& row) {
    const auto span = ReadSpan(input, row, kTaskStart, kTaskEnd, "TASK");
    if (!span) return;
    input.trace.schedule_kernels.Append(
        {.start = span->start,
         .dur = span->dur,
         .name = input.strings.Text(row, kTaskColumns),
         .op_type = RecordedText(input.strings.Text(row, kTaskColumns + 1), input.trace.strings),
         .task_id = row.IntOr(kTaskId, -1),
         .stream = row.IntOr(kTaskStream, -1),
         .link = Link(row, kTaskConnection)});
  };
  ScanTasks(input, TasksOf(input), kTable, RowsByTask(input.database, kTable, "name, opType?"),
            read);
}

void ReadCoreClocks(DbInput& input) {
  if (!input.database.HasTable("AICORE_FREQ")) return;
  io::Statement rows = input.database.Query(
      "SELECT timestampNs, freq, deviceId FROM AICORE_FREQ ORDER BY timestampNs, rowid");
  const std::int64_t device = input.trace.device_id;
  while (rows.Step()) {
    const auto time = rows.Int(0);
    const auto mhz = rows.Int(1);
    if (!time || !IsTime(*time) || !mhz || !IsClock(*mhz)) {
      CountRow(input, "invalid core frequency ignored", "AICORE_FREQ");
      continue;
    }
    if (device < 0 || rows.IntOr(2, device) == device) {
      input.trace.core_clocks.Append({.start = *time, .mhz = *mhz});
    }
  }
}

namespace {

// By the id of the task of a copy.
std::unordered_map<std::int64_t, CopyDirection> ReadCopyDirections(const io::Database& database) {
  std::unordered_map<std::int64_t, CopyDirection> directions;
  ScanTable(database, "MEMCPY_INFO", "globalTaskId, memcpyOperation", [&](const io::Row& row) {
    directions[row.IntOr(0, -1)] = CopyDirectionOf(row.IntOr(1, -1));
  });
  return directions;
}

}  // namespace

void ReadDeviceTasks(DbInput& input) {
  if (!input.database.HasTable("TASK")) return;
  RequireColumnsOfWork(input);
  const io::KeptRows& tasks = TasksOf(input);
  const CollectiveTasks collective_tasks(input.database);
  const auto directions = ReadCopyDirections(input.database);
  input.trace.device_tasks.Reserve(tasks.Size());
  const auto read = [&](const io::Row& row) {
    const auto span = ReadSpan(input, row, kTaskStart, kTaskEnd, "TASK");
    if (!span) return;
    const StringId type = FilledText(input, row, kTaskType, "taskType", "TASK");
    CountIfNull(input, row, kTaskStream, "streamId", "TASK", "the stream of a task");
    const std::int64_t task_id = row.IntOr(kTaskId, -1);
    const std::int64_t link = Link(row, kTaskConnection);
    const bool is_copy =
        IsCopy(input.trace.strings.View(type)) && !collective_tasks.Contains(task_id, link);
    if (is_copy)
      CountIfNull(input, row, kTaskConnection, "connectionId", "TASK", "the operator of a task");
    const auto direction = is_copy ? directions.find(task_id) : directions.end();
    input.trace.device_tasks.Append(
        {.start = span->start,
         .dur = span->dur,
         .name = is_copy ? type : StringId::kEmpty,
         .type = type,
         .task_id = task_id,
         .stream = row.IntOr(kTaskStream, -1),
         .link = link,
         .connection = RecordedNumber(link),
         .model = RecordedNumber(row.IntOr(kTaskModel, -1)),
         .number = row.IntOr(kTaskNumber, -1),
         .direction = direction != directions.end() ? direction->second : CopyDirection::kUnknown});
  };
  tasks.ForEach(read);
}

}  // namespace mpa::readers
