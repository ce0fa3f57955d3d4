// SPDX-License-Identifier: Apache-2.0
// The times of steps on the device.
#include "step_ranges.h"

#include <limits>

namespace mpa::raw {
namespace {

// Start of the first operator: where a capture without steps begins on the host.
TimeNs FirstOperator(const Session& session) {
  return session.ops.Empty() ? -1 : session.ops.start.front();
}

constexpr Span kAlways{0, std::numeric_limits<TimeNs>::max()};

// Without steps, the whole capture is one range.
StepRanges OrAll(std::vector<StepRange> ranges, const Session& session) {
  if (ranges.empty()) ranges.push_back({-1, FirstOperator(session), kAlways});
  return StepRanges(std::move(ranges));
}

}  // namespace

StepRanges::StepRanges(std::vector<StepRange> steps) : steps_(std::move(steps)) {
  TimeNs latest = -1;
  for (const StepRange& step : steps_) {
    latest = std::max(latest, step.device.end);
    ends_.push_back(latest);
  }
}

std::ptrdiff_t StepRanges::At(TimeNs time) const {
  const auto end = std::upper_bound(ends_.begin(), ends_.end(), time);
  if (end == ends_.end()) return -1;
  const std::ptrdiff_t step = end - ends_.begin();
  return steps_[static_cast<std::size_t>(step)].device.start <= time ? step : -1;
}

StepRanges RangesOfLinks(const Session& session) {
  std::vector<StepRange> ranges;
  const Steps& steps = session.steps;
  for (std::size_t i = 0; i < steps.Size(); ++i) {
    if (steps.device_start[i] < 0) continue;
    ranges.push_back({steps.id[i], steps.start[i], {steps.device_start[i], steps.device_end[i]}});
  }
  return OrAll(std::move(ranges), session);
}

StepRanges RangesOfCalls(const Session& session) {
  const Steps& steps = session.steps;
  const HostCalls& calls = session.calls;
  std::vector<Span> work(steps.Size());
  for (std::size_t task = 0; task < session.tasks.Size(); ++task) {
    const std::int32_t call = session.tasks.call[task];
    if (call < 0 || calls.level[call] != Level::kNode) continue;
    const auto after = std::upper_bound(steps.start.begin(), steps.start.end(), calls.start[call]);
    if (after == steps.start.begin()) continue;
    const std::ptrdiff_t step = after - steps.start.begin() - 1;
    if (calls.end[call] > steps.end[static_cast<std::size_t>(step)]) continue;
    work[static_cast<std::size_t>(step)].Add(session.tasks.start[task], session.tasks.end[task]);
  }
  std::vector<StepRange> ranges;
  for (std::size_t i = 0; i < steps.Size(); ++i) {
    const TimeNs start = work[i].Empty() ? steps.start[i] : work[i].start;
    ranges.push_back({steps.id[i], steps.start[i], {start, std::max(work[i].end, steps.end[i])}});
  }
  return OrAll(std::move(ranges), session);
}

}  // namespace mpa::raw
