// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/diagnosis/part/part.h"
#include "mpa/diagnosis/part/rank_graph.h"
#include "mpa/measure/host_timeline.h"

namespace mpa {

/// Gaps of 1 ms or more in which the host had work to issue, but none of its threads recorded
/// anything: something stopped the whole process. Marks of steps do not count as a record.
std::vector<SilentGap> FindSilentGaps(const RankTrace& trace, const HostTimeline& timeline,
                                      const std::vector<HostStretch>& stretches);

}  // namespace mpa
