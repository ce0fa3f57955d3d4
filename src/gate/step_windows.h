// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "mpa/gate/run_summary.h"
#include "mpa/measure/intervals.h"
#include "mpa/model/rank_trace.h"

namespace mpa::gate {

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
