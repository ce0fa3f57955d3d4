// SPDX-License-Identifier: Apache-2.0
// Cuts one step out of a rank.
#include "mpa/model/step_selection.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/model/queue_index.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

// Keeps the allocations of the host times. What queued work allocates belongs to the time at which
// the work was queued.
template <typename OnHost>
void FilterAllocations(RankTrace& trace, OnHost on_host) {
  const QueuedAllocations queued(trace);
  std::vector<bool> kept;
  for (std::size_t i = 0; i < trace.allocations.Size(); ++i) {
    const auto work = queued.IsQueued(i) ? queued.Work(i) : std::nullopt;
    kept.push_back(
        on_host(work ? trace.queued_work.queued[*work] : trace.allocations.allocated[i]));
  }
  trace.allocations.Filter([&](std::size_t i) { return kept[i]; });
}

}  // namespace

void DropEmptySteps(RankTrace& trace) {
  if (trace.steps.Empty()) return;
  const StepBounds bounds(trace);
  std::size_t used = 0;  // up to the last step with work
  const auto note = [&](const auto& table) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      if (const auto step = bounds.OfDeviceWork(table.link[i], table.start[i]))
        used = std::max(used, *step + 1);
    }
  };
  note(trace.kernels);
  note(trace.communications);
  note(trace.device_tasks);
  const Overlaps& overlaps = trace.overlaps;
  for (std::size_t i = 0; i < overlaps.Size(); ++i) {
    const auto step = bounds.OfDeviceWork(-1, overlaps.start[i]);
    if (step && overlaps.activity[i] != Activity::kFree) used = std::max(used, *step + 1);
  }
  if (used == 0) return;
  std::vector<bool> kept(trace.steps.Size(), true);
  const std::vector<std::size_t> rows = trace.steps.RowsByStart();
  for (std::size_t step = used; step < rows.size(); ++step) kept[rows[step]] = false;
  trace.steps.Filter([&](std::size_t row) { return kept[row]; });
}

void SelectStep(RankTrace& trace, std::int32_t id, TimeNs host_offset) {
  const StepBounds bounds(trace);
  const std::optional<std::size_t> step = bounds.Find(id);
  if (!step) {
    if (trace.steps.Empty()) {
      Fail(ErrorKind::kInput,
           "the capture has no step markers; profile with step() or leave the "
           "step options out");
    }
    Fail(ErrorKind::kInput, "step {} not found; available steps: {}", id, bounds.Ids());
  }

  const StepBounds on_clock(trace, host_offset);
  const bool is_last = *step + 1 == on_clock.Count();
  trace.step_begin = on_clock.DeviceBegin(*step);
  trace.step_end = is_last ? on_clock.DeviceFinish(*step) : on_clock.DeviceBegin(*step + 1);

  const auto on_host = [&](TimeNs time) { return bounds.OfHostTime(time) == step; };
  const auto on_device = [&](std::int64_t link, TimeNs start) {
    return bounds.OfDeviceWork(link, start) == step;
  };
  // Before the operators, whose names it needs.
  FilterAllocations(trace, on_host);
  trace.host_ops.Filter([&](std::size_t i) { return on_host(trace.host_ops.start[i]); });
  // With the functions around the step: call stacks go through them.
  const PythonCalls& calls = trace.python_calls;
  const TimeNs host_begin = bounds.HostBegin(*step);
  const auto on_host_or_around = [&](TimeNs start, TimeNs dur) {
    return (start < host_begin && start + dur > host_begin) || on_host(start);
  };
  trace.python_calls.Filter(
      [&](std::size_t i) { return on_host_or_around(calls.start[i], calls.dur[i]); });
  const MstxEvents& mstx = trace.mstx;
  trace.mstx.Filter([&](std::size_t i) { return on_host_or_around(mstx.start[i], mstx.dur[i]); });
  trace.serving_marks.Filter([&](std::size_t i) { return on_host(trace.serving_marks.start[i]); });
  trace.backward_links.Filter(
      [&](std::size_t i) { return on_host(trace.backward_links.forward_time[i]); });
  trace.memory_samples.Filter([&](std::size_t i) { return on_host(trace.memory_samples.time[i]); });
  const auto keep_kernel = [&](std::size_t i) {
    return on_device(trace.kernels.link[i], trace.kernels.start[i]);
  };
  trace.kernel_loads.Filter(keep_kernel);
  trace.kernels.Filter(keep_kernel);
  const Kernels& schedule = trace.schedule_kernels;
  trace.schedule_kernels.Filter(
      [&](std::size_t i) { return on_device(schedule.link[i], schedule.start[i]); });
  const ListedKernels& listed = trace.listed_kernels;
  trace.listed_kernels.Filter(
      [&](std::size_t i) { return on_device(listed.link[i], listed.start[i]); });
  trace.listed_collectives.Filter(
      [&](std::size_t i) { return on_device(-1, trace.listed_collectives.start[i]); });
  trace.device_tasks.Filter([&](std::size_t i) {
    return on_device(trace.device_tasks.link[i], trace.device_tasks.start[i]);
  });
  // Tasks go with their operation.
  const std::vector<std::int64_t> operation_of = OperationsOfTasks(trace);
  const auto keep_operation = [&](std::size_t i) {
    return on_device(trace.communications.link[i], trace.communications.start[i]);
  };
  trace.comm_tasks.Filter([&](std::size_t i) {
    return operation_of[i] >= 0 ? keep_operation(static_cast<std::size_t>(operation_of[i]))
                                : on_device(-1, trace.comm_tasks.start[i]);
  });
  trace.communications.Filter(keep_operation);
  trace.transfers.Filter([&](std::size_t i) { return trace.transfers.step[i] == id; });
  trace.step_times.Filter([&](std::size_t i) { return trace.step_times.step[i] == id; });

  Overlaps& overlaps = trace.overlaps;
  const TimeNs begin = bounds.DeviceBegin(*step);
  const TimeNs end = bounds.DeviceEnd(*step);
  for (std::size_t i = 0; i < overlaps.Size(); ++i) {
    const TimeNs from = std::max(overlaps.start[i], begin);
    overlaps.dur[i] = std::min(overlaps.start[i] + overlaps.dur[i], end) - from;
    overlaps.start[i] = from;
  }
  overlaps.Filter([&](std::size_t i) {
    return overlaps.dur[i] > 0 && overlaps.activity[i] != Activity::kFree;
  });

  trace.steps.Filter([&](std::size_t i) { return trace.steps.id[i] == id; });
  trace.is_one_step = true;
}

}  // namespace mpa
