// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "mpa/base/time.h"

namespace mpa::recipes::slow_rank {

/// Finds the ranks that were late for a collective, by how long the ranks ran it: all but the last
/// wait, so the last has an outstandingly short time. Positions in `durations`.
///
/// Up to 100 ranks Dixon's test says so (one-sided, 99.5 %), of more the distance of three standard
/// deviations from the mean. Dixon's test needs four different values; below that the shortest is
/// late if the next one is more than twice as long, and longer by 100 us.
std::vector<std::size_t> StragglersOf(const std::vector<TimeNs>& durations);

}  // namespace mpa::recipes::slow_rank
