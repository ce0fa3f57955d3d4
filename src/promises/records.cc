// SPDX-License-Identifier: Apache-2.0
// Records that were written twice, and steps that do not follow each other.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "checks.h"
#include "mpa/model/repeated_rows.h"
#include "mpa/promises/promise.h"

namespace mpa {

std::size_t DropRepeatedTimes(StepTimes& times) {
  return DropRepeated(times, [&](std::size_t i) {
    return std::tuple(times.step[i], times.computing[i], times.communication[i], times.free[i],
                      times.stage[i], times.preparing[i]);
  });
}

namespace promises {

void CountRepeated(RankTrace& trace, const char* table, std::size_t rows) {
  for (std::size_t i = 0; i < rows; ++i) {
    trace.issues.Count(Promise::kOnceEach, kWrittenTwice, table);
  }
}

namespace {

void LeaveOutRepeatedRowsOfTasks(RankTrace& trace) {
  const auto task_key = [](const auto& table) {
    return [&table](std::size_t i) {
      return std::tuple(table.start[i], table.task_id[i], table.dur[i], table.stream[i]);
    };
  };
  const auto has_ids = [](const auto& table) { return !table.Empty() && table.task_id[0] >= 0; };
  std::size_t rows = 0;
  if (has_ids(trace.device_tasks)) {
    rows = std::max(rows, DropRepeated(trace.device_tasks, task_key(trace.device_tasks)));
  }
  if (has_ids(trace.kernels)) {
    const std::vector<bool> repeated = Repeated(trace.kernels, task_key(trace.kernels));
    const auto count = static_cast<std::size_t>(std::ranges::count(repeated, true));
    const auto keep = [&](std::size_t row) { return !repeated[row]; };
    if (count > 0) {
      if (!trace.kernel_loads.Empty()) trace.kernel_loads.Filter(keep);
      trace.kernels.Filter(keep);
    }
    rows = std::max(rows, count);
  }
  if (has_ids(trace.schedule_kernels)) {
    rows = std::max(rows, DropRepeated(trace.schedule_kernels, task_key(trace.schedule_kernels)));
  }
  const ListedKernels& listed = trace.listed_kernels;
  rows = std::max(rows, DropRepeated(trace.listed_kernels, [&](std::size_t i) {
                    // Collectives have no number.
                    return std::tuple(listed.start[i], listed.id[i], listed.dur[i],
                                      listed.id[i] < 0 ? i : 0);
                  }));
  const CommTasks& tasks = trace.comm_tasks;
  rows =
      std::max(rows, DropRepeated(trace.comm_tasks, [&](std::size_t i) {
                 return std::tuple(tasks.start[i], tasks.dur[i], tasks.stream[i], tasks.plane[i],
                                   tasks.op_id[i], tasks.name[i], tasks.peer[i], tasks.notify[i]);
               }));
  CountRepeated(trace, "TASK", rows);
}

void CheckSteps(RankTrace& trace) {
  CountRepeated(trace, trace.source == "database" ? "StepTraceTime" : "step_trace_time.csv",
                DropRepeatedTimes(trace.step_times));
  const Steps& steps = trace.steps;
  const std::size_t rows = DropRepeated(trace.steps, [&](std::size_t i) {
    return std::tuple(steps.id[i], steps.start[i], steps.end[i]);
  });
  CountRepeated(trace, trace.source == "database" ? "STEP_TIME" : "ProfilerStep", rows);
  const std::vector<std::size_t> order = steps.RowsByStart();
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t step = order[i - 1], next = order[i];
    constexpr TimeNs kMicrosecond = 1'000;
    if (steps.end[next] == steps.start[next]) continue;  // takes nothing from the other
    if (steps.start[next] + kMicrosecond >= steps.end[step]) continue;
    trace.issues.Count(
        Promise::kStepsFollow, "steps overlap, their times are wrong or belong to several runs",
        fmt::format("step {} begins {} us before step {} ends", steps.id[next],
                    (steps.end[step] - steps.start[next]) / kMicrosecond, steps.id[step]));
  }
}

// Steps follow each other, and the host works between them. Of raw data the reader says it.
void CheckGaps(RankTrace& trace) {
  const Steps& steps = trace.steps;
  const auto begins_within = [](TimeNs from, TimeNs to, const auto& table) {
    return std::ranges::any_of(table.start, [&](TimeNs t) { return t >= from && t < to; });
  };
  const std::vector<std::size_t> order = steps.RowsByStart();
  for (std::size_t i = 1; i < order.size() && trace.source != "raw"; ++i) {
    const TimeNs end = steps.end[order[i - 1]], begin = steps.start[order[i]];
    constexpr TimeNs kMaxLength = 1'000'000'000;
    if (begin - end <= kMaxLength) continue;
    // The device may still work for the one step, and a collection begin before the other.
    const TimeNs quarter = (begin - end) / 4;
    const auto is_in = [&](const auto&... tables) {
      return (begins_within(end + quarter, begin - quarter, tables) || ...);
    };
    if (is_in(trace.host_ops, trace.host_calls, trace.kernels, trace.device_tasks,
              trace.communications))
      continue;
    trace.issues.Count(
        Promise::kStepsFollow,
        "nothing was recorded between two steps, which counts as free in the first and end to end",
        fmt::format("{} ms before step {}", (begin - end) / 1'000'000, steps.id[order[i]]));
  }
}

}  // namespace

void LeaveOutRepeatedTasks(RankTrace& trace) {
  if (trace.source == "database") LeaveOutRepeatedRowsOfTasks(trace);
  LeaveOutRepeatedEvents(trace);
}

void LeaveOutRepeatedSteps(RankTrace& trace) {
  CheckSteps(trace);
  CheckGaps(trace);
}

}  // namespace promises
}  // namespace mpa
