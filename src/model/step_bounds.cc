// SPDX-License-Identifier: Apache-2.0
// Which step is when.
#include "mpa/model/step_bounds.h"

#include <algorithm>
#include <limits>

#include "mpa/model/serving_batch.h"

namespace mpa {
namespace {

// The last row whose begin is at or before `time`. The begins never fall.
template <typename Rows, typename Begin>
std::optional<std::size_t> LastBegunBy(TimeNs time, const Rows& rows, Begin begin) {
  const auto at = std::partition_point(rows.begin(), rows.end(),
                                       [&](const auto& row) { return row.*begin <= time; });
  if (at == rows.begin()) return std::nullopt;
  return static_cast<std::size_t>(at - rows.begin()) - 1;
}

}  // namespace

bool IsProfilerStep(std::string_view name) {
  return name.find("ProfilerStep#") != std::string_view::npos;
}

bool IsStepMark(std::string_view name) {
  return IsProfilerStep(name) || ReadServingName(name).has_value();
}

HostSteps::HostSteps(const Steps& steps) {
  for (const std::size_t row : steps.RowsByStart()) {
    spans_.push_back({steps.id[row], steps.start[row], steps.end[row]});
  }
}

std::optional<std::size_t> HostSteps::Find(std::int32_t id) const {
  for (std::size_t i = spans_.size(); i > 0; --i) {
    if (spans_[i - 1].id == id) return i - 1;
  }
  return std::nullopt;
}

std::string HostSteps::Ids() const {
  std::string text;
  for (const Span& span : spans_) text += (text.empty() ? "" : ", ") + std::to_string(span.id);
  return text;
}

std::optional<std::size_t> HostSteps::OfHostTime(TimeNs time) const {
  const auto step = LastBegunBy(time, spans_, &Span::begin);
  return step && time <= spans_[*step].end ? step : std::nullopt;
}

StepBounds::StepBounds(const RankTrace& trace, const Steps& steps, TimeNs host_offset)
    : HostSteps(steps),
      launches_(trace.launches),
      host_offset_(host_offset),
      index_(trace),
      device_(Count(), {std::numeric_limits<TimeNs>::max(), 0}) {
  const std::int64_t busiest = BusiestStream(trace, index_);
  TimeNs done_before = 0;
  NoteLaunched(trace.kernels, done_before,
               [&](std::size_t row) { return trace.kernels.stream[row] == busiest; });
  const auto never = [](std::size_t) { return false; };
  NoteLaunched(trace.communications, done_before, never);
  // Those of GPUs are copies; of NPUs waits and marks are among them.
  if (trace.device == DeviceKind::kGpu) NoteLaunched(trace.device_tasks, done_before, never);
  // Other steps may begin with work of the device, behind its launch.
  const bool are_own = &steps == &trace.steps;
  TimeNs device_done = std::max(trace.earlier_work_end, are_own ? done_before : 0);
  TimeNs last_begin = 0;
  for (std::size_t step = 0; step < Count(); ++step) {
    OnDevice& device = device_[step];
    const TimeNs host_begin = HostBegin(step) - host_offset_;
    // Never before the begin of the step before: work of several streams may overtake.
    device.begin =
        std::max(last_begin, std::min(device.first_launched, std::max(host_begin, device_done)));
    last_begin = device.begin;
    device_done = std::max({device_done, device.last_launched_end, host_begin});
  }
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
  const auto step = LastBegunBy(start, device_, &OnDevice::begin);
  return step && start < DeviceEnd(*step) ? step : std::nullopt;
}

TimeNs StepBounds::DeviceEnd(std::size_t step) const {
  if (step + 1 < Count()) return DeviceBegin(step + 1);
  return std::max(HostEnd(step) - host_offset_, device_[step].last_launched_end) + 1;
}

TimeNs StepBounds::DeviceFinish(std::size_t step) const {
  const TimeNs done =
      std::max({DeviceBegin(step), HostEnd(step) - host_offset_, device_[step].last_launched_end});
  return step + 1 < Count() ? std::min(done, DeviceBegin(step + 1)) : done;
}

template <typename Table, typename Opens>
void StepBounds::NoteLaunched(const Table& table, TimeNs& done_before, Opens opens) {
  for (std::size_t i = 0; i < table.Size(); ++i) {
    const auto launch = index_.Find(table.link[i]);
    if (!launch) continue;
    const TimeNs launched = launches_.host_time[*launch];
    const TimeNs end = table.start[i] + table.dur[i];
    if (const auto step = OfHostTime(launched)) {
      OnDevice& device = device_[*step];
      if (opens(i)) device.first_launched = std::min(device.first_launched, table.start[i]);
      device.last_launched_end = std::max(device.last_launched_end, end);
    } else if (Count() > 0 && launched < HostBegin(0)) {
      done_before = std::max(done_before, end);
    }
  }
}

}  // namespace mpa
