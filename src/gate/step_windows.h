// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpa/gate/run_summary.h"
#include "mpa/measure/activities.h"
#include "mpa/measure/intervals.h"
#include "mpa/model/rank_trace.h"
#include "mpa/model/step_bounds.h"

namespace mpa::gate {

/// The time on the device that each judged step takes, in order and apart from each other. Without
/// steps one window around all activities.
std::vector<Interval> StepWindows(const RankTrace& trace, const StepBounds& bounds,
                                  const Activities& activities);

/// How much of each window the intervals take, which are in order of their starts. Linear where
/// they are apart.
std::vector<TimeNs> LengthInWindows(const std::vector<Interval>& intervals,
                                    const std::vector<Interval>& windows);

/// The exposed communication of each window by the kind of collective that ran then; of several at
/// once the one that began first counts, so that the parts add up.
std::map<std::string, std::vector<TimeNs>> ExposedByKind(const RankTrace& trace,
                                                         const Intervals& exposed,
                                                         const std::vector<Interval>& windows);

}  // namespace mpa::gate
