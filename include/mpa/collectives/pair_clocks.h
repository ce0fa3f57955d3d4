// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "mpa/collectives/rank_clocks.h"

namespace mpa {

/// An operation between two ranks, by their positions, of which `first` is the lower one.
struct PairEnd {
  std::size_t first = 0, second = 0;
  ClockSample sample;  ///< of the end on the first, by its own clock, against that on the second
};

/// Sets clocks of ranks that meet in no collective, as the stages of a pipeline: a sender and its
/// receiver leave at one time. Three operations at least must tell, and agree; clocks that
/// collectives compare stay as they are.
void JoinClocksOfPairs(const std::vector<PairEnd>& ends, RankClocks& clocks);

}  // namespace mpa
