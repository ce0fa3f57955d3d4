// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpa/model/launches.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// The steps of a rank in time order: their span on the host, their time on the device, and what
/// belongs to which; see SelectStep(). Steps are named by their position. Needs steps, launches,
/// kernels and communications.
class StepBounds {
 public:
  /// Refers to the rank, which must outlive it.
  explicit StepBounds(const RankTrace& trace);

  std::size_t Count() const { return spans_.size(); }
  std::int32_t Id(std::size_t step) const { return spans_[step].id; }
  /// The step `id`; the last one if an id occurs twice.
  std::optional<std::size_t> Find(std::int32_t id) const;
  /// "1, 2, 3"
  std::string Ids() const;

  std::optional<std::size_t> OfHostTime(TimeNs time) const;
  std::optional<std::size_t> OfDeviceWork(std::int64_t link, TimeNs start) const;
  /// The same where the launch is known.
  std::optional<std::size_t> OfLaunchedWork(TimeNs launched, TimeNs start) const;

  TimeNs HostBegin(std::size_t step) const { return spans_[step].host_begin; }
  TimeNs DeviceBegin(std::size_t step) const { return spans_[step].device_begin; }
  /// Where the device time of the next step begins; of the last one, behind all it launched.
  TimeNs DeviceEnd(std::size_t step) const;
  /// The same without the time between the steps: where both host and device are done with this
  /// one, at the latest where the next begins.
  TimeNs DeviceFinish(std::size_t step) const;

 private:
  struct Span {
    std::int32_t id;
    TimeNs host_begin, host_end;
    TimeNs first_launched, last_launched_end;  // device work launched in the step
    TimeNs device_begin = 0;
  };

  template <typename Table>
  void NoteLaunched(const Table& table);
  std::optional<std::size_t> OfDeviceTime(TimeNs start) const;
  // Number of steps whose `begin` is at or before `time`.
  std::size_t UpperBound(TimeNs Span::*begin, TimeNs time) const;

  const Launches& launches_;
  LaunchIndex index_;
  std::vector<Span> spans_;
};

}  // namespace mpa
