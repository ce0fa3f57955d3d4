// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/collectives/arrivals.h"
#include "mpa/collectives/instances.h"
#include "mpa/collectives/rank_clocks.h"

/// Ranks that were not captured and came late, as those that were captured saw it.
namespace mpa {

/// Ranks differ by less without a cause.
struct LatenessLimits {
  TimeNs least = 50'000;          ///< in one instance
  double least_operations = 5;    ///< instances that make a habit
  double systematic_share = 0.6;  ///< of those in which an uncaptured rank came last
  /// By what a habit of being a little late has to delay all of them together.
  TimeNs least_of_habit = 50'000;
};

/// Members of an instance that came about together, after all others but those later still.
struct LateMembers {
  std::vector<RankId> ranks;  ///< of the job, ascending; empty: not recorded which
  TimeNs time = 0;            ///< of the last of them, on the common clock
  TimeNs before = 0;          ///< when the last of the members before them came
  bool captured = false;      ///< all of them
  TimeNs Behind() const { return time - before; }
};

/// The last ones first: the members of an instance from the last one on, up to each gap of at least
/// `least`, while others waited for them; `captured`: those that were captured count, too. More
/// than half of a group is not late: the others are early.
std::vector<LateMembers> FindLateMembers(const InstanceArrivals& arrivals, TimeNs least,
                                         bool captured);

/// What an instance shows of its members that were not captured.
struct UncapturedMembers {
  /// The last ones first. Those of the next entry come before those of this one.
  std::vector<LateMembers> late;
  TimeNs last = -1;  ///< when the last member came, on the common clock; -1: it was captured
};

/// By instance. `arrivals` are those that FindArrivals gives for the instances and clocks.
std::vector<UncapturedMembers> FindUncapturedMembers(const JobCollectives& ranks,
                                                     const CollectiveInstances& instances,
                                                     const std::vector<InstanceArrivals>& arrivals,
                                                     const RankClocks& clocks,
                                                     const LatenessLimits& limits);

}  // namespace mpa
