// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "boundaries.h"
#include "call.h"
#include "device_timeline.h"
#include "mpa/measure/intervals.h"

namespace mpa::head {

/// From where to where a segment of the call lasts; empty where it is unknown.
std::optional<Interval> SpanOf(const Call& call, Segment segment);

/// Compile work, PyTorch's lookups and waits for the device among the framework's events.
class MarkedEvents {
 public:
  explicit MarkedEvents(const HostForest& forest);
  /// The time of events for which `wanted` holds and that start on the thread within [from, to],
  /// cut to it.
  Intervals Within(std::int32_t track, TimeNs from, TimeNs to, bool (*wanted)(HostEvent)) const;

 private:
  const HostForest& forest_;
  std::vector<std::int64_t> nodes_;
};

/// Fills the segments of a call whose boundaries are set, and their parts.
void MeasureSegments(const HostForest& forest, const RuntimeCalls& runtime,
                     const MarkedEvents& marked, const FoundCall& found, const Boundaries& bounds,
                     Call& call);

/// Fills the idle times of the device up to the first kernel.
void MeasureExposure(const DeviceTimeline& device, const RuntimeCalls& runtime,
                     const MarkedEvents& marked, Call& call);

}  // namespace mpa::head
