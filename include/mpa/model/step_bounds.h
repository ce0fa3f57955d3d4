// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/model/launches.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// True for the operator that the profiler records for a step: "ProfilerStep#7".
bool IsProfilerStep(std::string_view name);
/// True for this and for names that servers give their steps; see serving_batch.h.
bool IsStepMark(std::string_view name);

/// The steps of a rank in order of their begins on the host. Steps are named by their position.
class HostSteps {
 public:
  explicit HostSteps(const Steps& steps);

  std::size_t Count() const { return spans_.size(); }
  std::int32_t Id(std::size_t step) const { return spans_[step].id; }
  /// The step `id`; the last one if an id occurs twice.
  std::optional<std::size_t> Find(std::int32_t id) const;
  /// "1, 2, 3"
  std::string Ids() const;

  /// The step that contains a host time, both ends included. If one step ends and the next begins
  /// at that time, the next.
  std::optional<std::size_t> OfHostTime(TimeNs time) const;
  TimeNs HostBegin(std::size_t step) const { return spans_[step].begin; }
  TimeNs HostEnd(std::size_t step) const { return spans_[step].end; }

 private:
  struct Span {
    std::int32_t id;
    TimeNs begin, end;
  };
  std::vector<Span> spans_;
};

/// The offset of a host whose recorded times are taken for times of the device.
inline constexpr TimeNs kAsRecorded = 0;

/// The steps with their time on the device, and what belongs to which; see SelectStep(). Needs
/// steps, launches, kernels and communications.
class StepBounds : public HostSteps {
 public:
  /// Refers to the rank, which must outlive it. A host time minus `host_offset` is a device time:
  /// HostClock::offset, or kAsRecorded where times of host and device are compared as they stand.
  StepBounds(const RankTrace& trace, TimeNs host_offset)
      : StepBounds(trace, trace.steps, host_offset) {}
  /// The same for other steps than the rank's.
  StepBounds(const RankTrace& trace, const Steps& steps, TimeNs host_offset);

  std::optional<std::size_t> OfDeviceWork(std::int64_t link, TimeNs start) const;
  /// The same where the launch is known.
  std::optional<std::size_t> OfLaunchedWork(TimeNs launched, TimeNs start) const;

  TimeNs DeviceBegin(std::size_t step) const { return device_[step].begin; }
  /// Where the device time of the next step begins; for the last step, the end of all work it
  /// launched.
  TimeNs DeviceEnd(std::size_t step) const;
  /// The same without the time between the steps: where both host and device have finished this
  /// step, at the latest where the next begins.
  TimeNs DeviceFinish(std::size_t step) const;

 private:
  struct OnDevice {
    TimeNs first_launched;     // of the kernels of the busiest stream that the step launched
    TimeNs last_launched_end;  // of all work that the step launched
    TimeNs begin = 0;
  };

  // `opens(row)`: its begin is the latest at which its step begins on the device.
  template <typename Table, typename Opens>
  void NoteLaunched(const Table& table, TimeNs& done_before, Opens opens);
  std::optional<std::size_t> OfDeviceTime(TimeNs start) const;

  const Launches& launches_;
  TimeNs host_offset_;
  LaunchIndex index_;
  std::vector<OnDevice> device_;
};

}  // namespace mpa
