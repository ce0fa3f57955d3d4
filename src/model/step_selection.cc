// SPDX-License-Identifier: Apache-2.0
// Cuts one step out of a rank.
#include "mpa/model/step_selection.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/model/launches.h"
#include "mpa/model/queue_index.h"

namespace mpa {
namespace {

constexpr TimeNs kForever = std::numeric_limits<TimeNs>::max();

// Steps in time order with their host span and the begin of their device time.
class StepBounds {
 public:
  explicit StepBounds(const RankTrace& trace) : launches_(trace.launches), index_(trace) {
    const Steps& steps = trace.steps;
    order_.resize(steps.Size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return steps.start[a] < steps.start[b]; });
    for (const std::size_t row : order_) {
      spans_.push_back({steps.id[row], steps.start[row], steps.end[row], kForever, 0});
    }
    NoteLaunched(trace.kernels);
    NoteLaunched(trace.communications);
    TimeNs device_done = 0;
    TimeNs last_begin = 0;
    for (Span& span : spans_) {
      // Never before the begin of the step before: work of several streams may overtake.
      span.device_begin = std::max(
          last_begin, std::min(span.first_launched, std::max(span.host_begin, device_done)));
      last_begin = span.device_begin;
      device_done = std::max({device_done, span.last_launched_end, span.host_begin});
    }
  }

  // The position of the step `id` in time order; the last one if an id occurs twice.
  std::optional<std::size_t> Find(std::int32_t id) const {
    for (std::size_t i = spans_.size(); i > 0; --i) {
      if (spans_[i - 1].id == id) return i - 1;
    }
    return std::nullopt;
  }

  std::optional<std::size_t> OfHostTime(TimeNs time) const {
    for (auto at = UpperBound(&Span::host_begin, time); at > 0; --at) {
      if (time <= spans_[at - 1].host_end) return at - 1;
      break;
    }
    return std::nullopt;
  }

  std::optional<std::size_t> OfDeviceWork(std::int64_t link, TimeNs start) const {
    if (const auto launch = index_.Find(link)) {
      if (const auto step = OfHostTime(launches_.host_time[*launch])) return step;
    }
    const std::size_t at = UpperBound(&Span::device_begin, start);
    if (at == 0 || start >= DeviceEnd(at - 1)) return std::nullopt;
    return at - 1;
  }

  TimeNs HostBegin(std::size_t step) const { return spans_[step].host_begin; }
  TimeNs DeviceBegin(std::size_t step) const { return spans_[step].device_begin; }
  TimeNs DeviceEnd(std::size_t step) const {
    if (step + 1 < spans_.size()) return spans_[step + 1].device_begin;
    return std::max(spans_[step].host_end, spans_[step].last_launched_end) + 1;
  }

  std::string Ids() const {
    std::string text;
    for (const Span& span : spans_) text += (text.empty() ? "" : ", ") + std::to_string(span.id);
    return text;
  }

 private:
  struct Span {
    std::int32_t id;
    TimeNs host_begin, host_end;
    TimeNs first_launched, last_launched_end;  // device work launched in the step
    TimeNs device_begin = 0;
  };

  template <typename Table>
  void NoteLaunched(const Table& table) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      const auto launch = index_.Find(table.link[i]);
      if (!launch) continue;
      const auto step = OfHostTime(launches_.host_time[*launch]);
      if (!step) continue;
      Span& span = spans_[*step];
      span.first_launched = std::min(span.first_launched, table.start[i]);
      span.last_launched_end = std::max(span.last_launched_end, table.start[i] + table.dur[i]);
    }
  }

  // Number of steps whose `begin` is at or before `time`.
  std::size_t UpperBound(TimeNs Span::*begin, TimeNs time) const {
    const auto at = std::partition_point(spans_.begin(), spans_.end(),
                                         [&](const Span& span) { return span.*begin <= time; });
    return static_cast<std::size_t>(at - spans_.begin());
  }

  const Launches& launches_;
  LaunchIndex index_;
  std::vector<std::size_t> order_;
  std::vector<Span> spans_;
};

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

void SelectStep(RankTrace& trace, std::int32_t id) {
  const StepBounds bounds(trace);
  const std::optional<std::size_t> step = bounds.Find(id);
  if (!step) {
    if (trace.steps.Empty()) {
      Fail(ErrorKind::kInput,
           "the capture has no step markers; profile with step() or leave the "
           "step options out");
    }
    Fail(ErrorKind::kInput, "there is no step {}; the steps are: {}", id, bounds.Ids());
  }

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
  trace.backward_links.Filter(
      [&](std::size_t i) { return on_host(trace.backward_links.forward_time[i]); });
  trace.memory_samples.Filter([&](std::size_t i) { return on_host(trace.memory_samples.time[i]); });
  trace.kernels.Filter(
      [&](std::size_t i) { return on_device(trace.kernels.link[i], trace.kernels.start[i]); });
  const Kernels& schedule = trace.schedule_kernels;
  trace.schedule_kernels.Filter(
      [&](std::size_t i) { return on_device(schedule.link[i], schedule.start[i]); });
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
}

}  // namespace mpa
