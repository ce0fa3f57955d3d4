// SPDX-License-Identifier: Apache-2.0
// Links between rows, as ids: what launched a kernel, what is around an operator.
#include "derived_columns.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "modules.h"
#include "mpa/measure/device_work.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/op_tree.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/model/launches.h"

namespace mpa::query {
namespace {

using Ids = std::vector<std::int64_t>;

constexpr Tables kWorkTables = kStepTables | Tables::kHostOps | Tables::kDeviceTasks;
constexpr Tables kOpTables = Tables::kLaunches | Tables::kHostOps;

// Of a GPU the operator that called the runtime stands for the call.
std::int64_t OperatorAround(const RankTrace& trace, const Nesting& ops, std::int64_t op) {
  while (op >= 0 && trace.device == DeviceKind::kGpu &&
         IsRuntimeCall(trace.strings.View(trace.host_ops.name[static_cast<std::size_t>(op)])))
    op = ops.Parent(static_cast<std::size_t>(op));
  return op;
}

Ids Parents(const RankTrace& trace) {
  const Nesting ops(OpSpans(trace));
  Ids parents(trace.host_ops.Size());
  for (std::size_t op = 0; op < parents.size(); ++op) parents[op] = ops.Parent(op);
  return parents;
}

Ids OpsOfLaunches(const RankTrace& trace) {
  const Nesting ops(OpSpans(trace));
  const Launches& launches = trace.launches;
  Ids found(launches.Size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i] = OperatorAround(trace, ops, ops.Find(launches.host_track[i], launches.host_time[i]));
  }
  return found;
}

template <auto kTable>
Ids LaunchesOf(const RankTrace& trace) {
  const LaunchIndex index(trace);
  const auto& links = (trace.*kTable).link;
  Ids found(links.size(), -1);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (const auto launch = index.Find(links[i])) found[i] = static_cast<std::int64_t>(*launch);
  }
  return found;
}

template <auto kTable>
Ids OpsOf(const RankTrace& trace) {
  const Ids ops = OpsOfLaunches(trace);
  Ids found = LaunchesOf<kTable>(trace);
  for (std::int64_t& id : found) id = id < 0 ? id : ops[static_cast<std::size_t>(id)];
  return found;
}

// Rows of a table that are rows of the device tasks, too: those that begin and end together.
template <auto kTable>
Ids TasksOf(const RankTrace& trace) {
  const auto& table = trace.*kTable;
  const DeviceTasks& tasks = trace.device_tasks;
  std::map<std::tuple<TimeNs, TimeNs, std::int64_t>, std::int64_t> by_time;
  const bool has_streams =
      std::ranges::any_of(table.stream, [](std::int64_t stream) { return stream >= 0; });
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    by_time.try_emplace({tasks.start[i], tasks.dur[i], has_streams ? tasks.stream[i] : -1},
                        static_cast<std::int64_t>(i));
  }
  Ids found(table.Size(), -1);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto task =
        by_time.find({table.start[i], table.dur[i], has_streams ? table.stream[i] : -1});
    if (task != by_time.end()) found[i] = task->second;
  }
  return found;
}

Ids KernelsOfTasks(const RankTrace& trace) {
  Ids found(trace.device_tasks.Size(), -1);
  const Ids tasks = TasksOf<&RankTrace::kernels>(trace);
  for (std::size_t kernel = 0; kernel < tasks.size(); ++kernel) {
    if (tasks[kernel] >= 0)
      found[static_cast<std::size_t>(tasks[kernel])] = static_cast<std::int64_t>(kernel);
  }
  return found;
}

// Times of the device by operator; -1 where the capture does not say what launched its work.
Ids DeviceTimes(const RankTrace& trace, bool with_inner) {
  Ids times(trace.host_ops.Size(), KnowsLaunches(trace) ? 0 : -1);
  if (!KnowsLaunches(trace)) return times;
  const Nesting ops(OpSpans(trace));
  for (const LaunchedWork& launched : FindDeviceWork(trace, ops).launched) {
    std::int64_t op = OperatorAround(trace, ops, launched.op);
    for (; op >= 0; op = with_inner ? ops.Parent(static_cast<std::size_t>(op)) : -1)
      times[static_cast<std::size_t>(op)] += launched.work.dur;
  }
  return times;
}

constexpr const char* kOpMeaning = "id of the operator that launched it, the innermost one";
constexpr const char* kLaunchMeaning = "id of its launch";

struct Derived {
  const char *table, *column, *unit, *meaning;
  Tables needs;
  Ids (*derive)(const RankTrace& trace);
};

constexpr Derived kDerived[] = {
    {"op", "parent", "", "id of the operator around it", Tables::kHostOps, Parents},
    {"op", "device_ns", "ns", "time of the device work that it launched itself", kWorkTables,
     [](const RankTrace& trace) { return DeviceTimes(trace, false); }},
    {"op", "device_total_ns", "ns", "the same with that of all operators within", kWorkTables,
     [](const RankTrace& trace) { return DeviceTimes(trace, true); }},
    {"op", "module", "", "id of the innermost module in which it ran", kModuleTables, ModulesOfOps},
    {"launch", "op", "", kOpMeaning, kOpTables, OpsOfLaunches},
    {"kernel", "launch", "", kLaunchMeaning, Tables::kLaunches, LaunchesOf<&RankTrace::kernels>},
    {"kernel", "op", "", kOpMeaning, kOpTables, OpsOf<&RankTrace::kernels>},
    {"comm", "launch", "", kLaunchMeaning, Tables::kLaunches,
     LaunchesOf<&RankTrace::communications>},
    {"comm", "op", "", kOpMeaning, kOpTables, OpsOf<&RankTrace::communications>},
    {"device_task", "launch", "", kLaunchMeaning, Tables::kLaunches,
     LaunchesOf<&RankTrace::device_tasks>},
    {"device_task", "op", "", kOpMeaning, kOpTables, OpsOf<&RankTrace::device_tasks>},
    {"device_task", "kernel", "", "id of the kernel that the task runs",
     Tables::kKernels | Tables::kDeviceTasks, KernelsOfTasks},
    {"kernel", "device_task", "", "id of the task that runs it",
     Tables::kKernels | Tables::kDeviceTasks, TasksOf<&RankTrace::kernels>},
    {"comm_task", "device_task", "", "id of the task that does it",
     Tables::kCommTasks | Tables::kDeviceTasks, TasksOf<&RankTrace::comm_tasks>},
    {"comm_task", "comm", "", "id of the operation that it is a piece of", Tables::kCommunications,
     OperationsOfTasks},
};

}  // namespace

void AddDerivedColumns(std::vector<TableInfo>& tables) {
  for (const Derived& derived : kDerived) {
    for (TableInfo& table : tables) {
      if (table.name != derived.table) continue;
      table.columns.push_back({.name = derived.column,
                               .kind = Value::Kind::kInteger,
                               .unit = derived.unit,
                               .meaning = derived.meaning,
                               .needs = derived.needs,
                               .derive = derived.derive});
    }
  }
}

}  // namespace mpa::query
