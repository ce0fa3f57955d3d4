// SPDX-License-Identifier: Apache-2.0
// Kernels of a profiler database with all their recorded details, for lists of kernels.

#include <string>
#include <unordered_map>
#include <vector>

#include "kernel_load_columns.h"
#include "mpa/measure/kernel_class.h"
#include "profiler_db_tables.h"

namespace mpa::readers {
namespace {

// `table` contains what each task ran. Columns that it lacks are empty.
void ListTasks(DbInput& input, const io::KeptRows& tasks, const char* table) {
  if (!input.database.HasTable(table)) return;
  constexpr std::string_view kColumns =
      "name, opType?, taskType?, opState?, inputShapes?, inputDataTypes?, inputFormats?,"
      " outputShapes?, outputDataTypes?, outputFormats?, hf32Eligible?, blockNum?, blockDim?,"
      " mixBlockNum?, mixBlockDim?";
  const auto read = [&](const io::Row& row) {
    const auto span = ReadSpan(input, row, 0, 1, "TASK");
    if (!span) return;
    const StringPool& strings = input.trace.strings;
    const auto text = [&](int column) {
      return RecordedText(input.strings.Text(row, column), strings);
    };
    const StringId core = text(12), name = input.strings.Text(row, 10);
    if (IsHcclKernel(strings.View(core), strings.View(name))) return;
    input.trace.listed_kernels.Append({{.name = name,
                                        .op_type = text(11),
                                        .core = row.IsNull(12) ? text(8) : core,
                                        .state = text(13),
                                        .input_shapes = text(14),
                                        .input_types = text(15),
                                        .input_formats = text(16),
                                        .output_shapes = text(17),
                                        .output_types = text(18),
                                        .output_formats = text(19),
                                        .hf32 = text(20),
                                        // If both columns exist, blockDim is a text of graphs.
                                        .blocks = row.IntOr(21, row.IntOr(22, -1)),
                                        .mix_blocks = row.IntOr(23, row.IntOr(24, -1))},
                                       {.start = span->start,
                                        .dur = span->dur,
                                        .id = row.IntOr(9, -1),
                                        .device = row.IntOr(2, -1),
                                        .model = row.IntOr(3, -1),
                                        .stream = NumberOrNone(row, 4),
                                        .context = NumberOrNone(row, 5),
                                        .task = NumberOrNone(row, 6),
                                        .link = Link(row, 7)}});
  };
  ScanTasks(input, tasks, table, RowsByTask(input.database, table, kColumns), read);
}

// The device and the model of the tasks of a connection; -1 where they differ.
struct TaskOwner {
  std::int64_t device = -1, model = -1;
};

std::unordered_map<std::int64_t, TaskOwner> OwnersOfConnections(DbInput& input) {
  std::unordered_map<std::int64_t, TaskOwner> owners;
  ScanTable(input.database, "TASK", "connectionId, deviceId, modelId", [&](const io::Row& row) {
    const std::int64_t link = Link(row, 0), device = row.IntOr(1, -1), model = row.IntOr(2, -1);
    if (link < 0) return;
    const auto [found, is_new] = owners.try_emplace(link, TaskOwner{device, model});
    if (is_new) return;
    if (found->second.device != device) found->second.device = -1;
    if (found->second.model != model) found->second.model = -1;
  });
  return owners;
}

void ListCollectives(DbInput& input) {
  if (!input.database.HasTable("COMMUNICATION_OP")) return;
  const auto owners = OwnersOfConnections(input);
  const StringId core = input.trace.strings.Intern("COMMUNICATION");
  const auto read = [&](const DbSpan& span, const io::Row& row) {
    const std::int64_t link = Link(row, 4);
    const auto owner = owners.find(link);
    input.trace.listed_kernels.Append(
        {{.name = input.strings.Text(row, 2),
          .op_type = RecordedText(input.strings.Text(row, 3), input.trace.strings),
          .core = core,
          .blocks = 0},
         {.start = span.start,
          .dur = span.dur,
          .device = owner == owners.end() ? -1 : owner->second.device,
          .model = owner == owners.end() ? -1 : owner->second.model,
          .link = link}});
  };
  ScanSpans(input, "COMMUNICATION_OP", "startNs, endNs, opName, opType, connectionId", read);
}

void ListCounters(DbInput& input) {
  ListedKernels& kernels = input.trace.listed_kernels;
  std::unordered_map<std::int64_t, std::size_t> rows;  // of the tasks
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    if (kernels.id[i] >= 0) rows[kernels.id[i]] = i;
  }
  std::vector<double> of_others;
  const auto read = [&](const io::Row& row) {
    const auto kernel = rows.find(row.IntOr(0, -1));
    SetCounter(input.strings.Text(row, 1), row.RealOr(2, 0), input.trace.counter_names,
               kernel != rows.end() ? kernels.counters[kernel->second] : of_others);
  };
  ScanTable(input.database, "TASK_PMU_INFO", "globalTaskId, name, value", read);
}

}  // namespace

void ReadListedKernels(DbInput& input) {
  constexpr const char* kTables[] = {"COMPUTE_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO"};
  const io::Database& database = input.database;
  if (database.HasTable("TASK") &&
      (database.HasTable(kTables[0]) || database.HasTable(kTables[1]))) {
    const io::KeptRows tasks =
        database.Keep(ColumnsOf(database, "TASK",
                                "startNs, endNs, deviceId, modelId, streamId, contextId?, taskId?,"
                                " connectionId, taskType, globalTaskId"),
                      "TASK");
    for (const char* table : kTables) ListTasks(input, tasks, table);
  }
  ListCollectives(input);
  ListCounters(input);
}

}  // namespace mpa::readers
