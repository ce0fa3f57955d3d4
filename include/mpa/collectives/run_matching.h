// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/measure/intervals.h"

namespace mpa {

/// A run of an operation, as a rank recorded it.
struct RankRun {
  RankIndex rank{};
  std::size_t row = 0;     ///< positions, which the caller knows
  std::int32_t step = -1;  ///< as the job numbers it; -1: not recorded
  Interval time;           ///< in ns; for MatchInTime() on a clock that all ranks share
  bool is_uneven = false;  ///< set by matching: ranks ran it a different number of times
};

/// Runs that are one operation of the job, at most one of a rank, in order of rank.
using JointRanks = std::vector<RankRun>;

/// Says which runs of one name are one operation of the job. `runs` are those of one name in one
/// group, or of two ranks that send and receive, by rank and time. A name with a running number has
/// one run on each rank: these belong together. Of other names the n-th run of a step on one rank
/// is the n-th of every other, or the n-th of the capture where no steps are recorded. Where ranks
/// ran them a different number of times it is not known which is missing: each stands alone.
std::vector<JointRanks> MatchInOrder(const std::vector<RankRun>& runs);

/// The same, but where ranks ran them a different number of times, the first runs of all are one
/// operation, and so are the last ones. Some of these may be wrong: enough for clocks, whose median
/// bears it.
std::vector<JointRanks> MatchMostly(const std::vector<RankRun>& runs);

/// The same by time, for operations that nobody leaves before all have come: their spans share half
/// of the shorter one at least. So runs that a rank lost leave the others as they are.
std::vector<JointRanks> MatchInTime(const std::vector<RankRun>& runs);

/// Each run by itself.
std::vector<JointRanks> Alone(const std::vector<RankRun>& runs);

std::size_t CountRanks(const std::vector<RankRun>& runs);

/// The share of operations whose members were all in it at one time.
double ShareTogether(const std::vector<JointRanks>& operations);

}  // namespace mpa
