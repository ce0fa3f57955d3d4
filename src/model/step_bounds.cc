// SPDX-License-Identifier: Apache-2.0
// Which step is when.
#include "mpa/model/step_bounds.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace mpa {
namespace {

constexpr TimeNs kForever = std::numeric_limits<TimeNs>::max();

}  // namespace

StepBounds::StepBounds(const RankTrace& trace) : launches_(trace.launches), index_(trace) {
  const Steps& steps = trace.steps;
  std::vector<std::size_t> order(steps.Size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return steps.start[a] < steps.start[b]; });
  for (const std::size_t row : order) {
    spans_.push_back({steps.id[row], steps.start[row], steps.end[row], kForever, 0});
  }
  NoteLaunched(trace.kernels);
  NoteLaunched(trace.communications);
  TimeNs device_done = 0;
  TimeNs last_begin = 0;
  for (Span& span : spans_) {
    // Never before the begin of the step before: work of several streams may overtake.
    span.device_begin =
        std::max(last_begin, std::min(span.first_launched, std::max(span.host_begin, device_done)));
    last_begin = span.device_begin;
    device_done = std::max({device_done, span.last_launched_end, span.host_begin});
  }
}

std::optional<std::size_t> StepBounds::Find(std::int32_t id) const {
  for (std::size_t i = spans_.size(); i > 0; --i) {
    if (spans_[i - 1].id == id) return i - 1;
  }
  return std::nullopt;
}

std::string StepBounds::Ids() const {
  std::string text;
  for (const Span& span : spans_) text += (text.empty() ? "" : ", ") + std::to_string(span.id);
  return text;
}

std::optional<std::size_t> StepBounds::OfHostTime(TimeNs time) const {
  const std::size_t at = UpperBound(&Span::host_begin, time);
  if (at == 0 || time > spans_[at - 1].host_end) return std::nullopt;
  return at - 1;
}

std::optional<std::size_t> StepBounds::OfDeviceWork(std::int64_t link, TimeNs start) const {
  if (const auto launch = index_.Find(link)) {
    return OfLaunchedWork(launches_.host_time[*launch], start);
  }
  return OfDeviceTime(start);
}

std::optional<std::size_t> StepBounds::OfLaunchedWork(TimeNs launched, TimeNs start) const {
  if (const auto step = OfHostTime(launched)) return step;
  return OfDeviceTime(start);
}

std::optional<std::size_t> StepBounds::OfDeviceTime(TimeNs start) const {
  const std::size_t at = UpperBound(&Span::device_begin, start);
  if (at == 0 || start >= DeviceEnd(at - 1)) return std::nullopt;
  return at - 1;
}

TimeNs StepBounds::DeviceEnd(std::size_t step) const {
  if (step + 1 < spans_.size()) return spans_[step + 1].device_begin;
  return std::max(spans_[step].host_end, spans_[step].last_launched_end) + 1;
}

TimeNs StepBounds::DeviceFinish(std::size_t step) const {
  const Span& span = spans_[step];
  const TimeNs done = std::max({span.device_begin, span.host_end, span.last_launched_end});
  return step + 1 < spans_.size() ? std::min(done, spans_[step + 1].device_begin) : done;
}

template <typename Table>
void StepBounds::NoteLaunched(const Table& table) {
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

std::size_t StepBounds::UpperBound(TimeNs Span::*begin, TimeNs time) const {
  const auto at = std::partition_point(spans_.begin(), spans_.end(),
                                       [&](const Span& span) { return span.*begin <= time; });
  return static_cast<std::size_t>(at - spans_.begin());
}

}  // namespace mpa
