// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/measure/host_timeline.h"
#include "part.h"
#include "rank_graph.h"

namespace mpa {

/// Where the host had to issue work and nothing of it is recorded for 1 ms or more, on none of its threads:
/// something held the whole process up. The marks of steps are no record of work.
std::vector<SilentGap> FindSilentGaps(const RankTrace& trace, const HostTimeline& timeline, const std::vector<HostStretch>& stretches);

}  // namespace mpa
