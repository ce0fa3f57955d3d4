// SPDX-License-Identifier: Apache-2.0
// Events of text captures that were written twice, as copies and joined files leave them.
#include <algorithm>
#include <tuple>
#include <vector>

#include "checks.h"
#include "repeated_events.h"

namespace mpa::promises {
namespace {

template <typename Table, typename KeyOf>
void LeaveOut(Table& table, const char* file, RankTrace& trace, KeyOf key_of) {
  const std::vector<bool> repeated = RepeatedEvents(table, key_of);
  if (repeated.empty()) return;
  CountRepeated(trace, file, static_cast<std::size_t>(std::ranges::count(repeated, true)));
  KeepRows(trace, table, [&](std::size_t row) { return !repeated[row]; });
}

}  // namespace

void LeaveOutRepeatedEvents(RankTrace& trace) {
  const bool is_npu_text = trace.source == "text" || trace.source == "tables";
  if (!is_npu_text || trace.device == DeviceKind::kGpu) return;
  constexpr const char *kTrace = "trace_view.json", *kKernels = "kernel_details.csv";
  for (Kernels* table : {&trace.kernels, &trace.listed_collectives}) {
    LeaveOut(*table, kKernels, trace, [table](std::size_t i) {
      return std::tuple(table->start[i], table->dur[i], table->name[i], table->stream[i]);
    });
  }
  const ListedKernels& listed = trace.listed_kernels;
  LeaveOut(trace.listed_kernels, kKernels, trace, [&](std::size_t i) {
    return std::tuple(listed.start[i], listed.dur[i], listed.name[i], listed.stream[i],
                      listed.task[i], listed.context[i]);
  });
  const DeviceTasks& tasks = trace.device_tasks;
  // Pieces of one collective run at once, and only a number that is not kept tells them apart:
  // "Notify Wait", "Write Value", "SDMA".
  const auto is_piece = [&](std::size_t i) {
    const std::string_view type = trace.strings.View(tasks.type[i]);
    return !type.ends_with("_SQE") && !type.starts_with("KERNEL_") && !type.starts_with("AI_") &&
           !type.starts_with("MIX_");
  };
  LeaveOut(trace.device_tasks, kTrace, trace, [&](std::size_t i) {
    return std::tuple(tasks.start[i], tasks.dur[i], tasks.name[i], tasks.stream[i],
                      tasks.task_id[i], is_piece(i) ? i : 0);
  });
  const Communications& collectives = trace.communications;
  LeaveOut(trace.communications, kTrace, trace, [&](std::size_t i) {
    return std::tuple(collectives.start[i], collectives.dur[i], collectives.name[i],
                      collectives.group[i]);
  });
  const CommTasks& pieces = trace.comm_tasks;
  LeaveOut(trace.comm_tasks, kTrace, trace, [&](std::size_t i) {
    return std::tuple(pieces.start[i], pieces.dur[i], pieces.name[i], pieces.plane[i],
                      pieces.stream[i], pieces.notify[i], pieces.peer[i]);
  });
  const Overlaps& overlaps = trace.overlaps;
  LeaveOut(trace.overlaps, kTrace, trace, [&](std::size_t i) {
    return std::tuple(overlaps.start[i], overlaps.dur[i], overlaps.activity[i], overlaps.device[i]);
  });
  const auto on_host = [&](auto& table) {
    LeaveOut(table, kTrace, trace, [&table](std::size_t i) {
      return std::tuple(table.start[i], table.dur[i], table.name[i], table.track[i],
                        table.dur[i] == 0 ? i : 0);
    });
  };
  on_host(trace.host_ops);
  on_host(trace.python_calls);
  on_host(trace.host_calls);
  const KernelStatistics& sums = trace.kernel_statistics;
  LeaveOut(trace.kernel_statistics, "op_statistic.csv", trace, [&](std::size_t i) {
    return std::tuple(sums.op_type[i], sums.core[i], sums.count[i], sums.total[i]);
  });
}

}  // namespace mpa::promises
