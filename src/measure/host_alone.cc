// SPDX-License-Identifier: Apache-2.0
// Steps of captures that hold the host alone.
#include "mpa/measure/host_alone.h"

#include "mpa/measure/host_timeline.h"
#include "mpa/measure/quantiles.h"
#include "mpa/model/step_bounds.h"

namespace mpa {

TimeNs HostAlone::MedianStep() const { return steps.empty() ? 0 : Median(steps); }

std::vector<TimeNs> HostStepTimes(const RankTrace& trace) {
  const HostSteps steps(trace.steps);
  std::vector<TimeNs> times;
  for (std::size_t step = 0; step < steps.Count(); ++step)
    times.push_back(steps.HostEnd(step) - steps.HostBegin(step));
  return times;
}

HostAlone HostAloneOf(const RankTrace& trace, const HostTimeline& timeline) {
  HostAlone host{HostStepTimes(trace), {}};
  if (host.steps.empty()) return host;
  host.categories.resize(kTimeCategories);
  const HostSteps steps(trace.steps);
  for (std::size_t step = 0; step < steps.Count(); ++step) {
    timeline.Walk(
        timeline.MainTrack(), steps.HostBegin(step), steps.HostEnd(step),
        [&](const HostPiece& piece) {
          host.categories[static_cast<std::size_t>(piece.category)] += piece.end - piece.begin;
        },
        [](TimeNs, TimeNs) {});
  }
  return host;
}

}  // namespace mpa
