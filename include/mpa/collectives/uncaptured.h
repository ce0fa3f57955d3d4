// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
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

/// Finds them, instance after instance.
class UncapturedFinder {
 public:
  /// Refers to the ranks and the clocks.
  UncapturedFinder(const JobCollectives& ranks, const RankClocks& clocks,
                   const LatenessLimits& limits);

  /// `arrivals`: what ArrivalFinder gives for the instance and these clocks.
  void Add(const CollectiveInstance& instance, const InstanceArrivals& arrivals);
  /// By instance, in the order in which they were added.
  std::vector<UncapturedMembers> Found() &&;

 private:
  void FindUnknown(const CollectiveInstance& instance, UncapturedMembers& found) const;
  bool AllCaptured(const CollectiveInstance& instance) const;
  std::vector<RankId> OnlyOtherMember(const CollectiveInstance& instance) const;

  const JobCollectives& ranks_;
  const RankClocks& clocks_;
  const LatenessLimits limits_;
  TimeNs tolerance_;
  std::vector<UncapturedMembers> found_;
  std::map<std::string, std::size_t> seen_;  // by group: an uncaptured rank came last
  std::map<std::pair<std::string, std::vector<RankId>>,
           std::vector<std::pair<std::size_t, LateMembers>>>
      little_late_;  // by group and ranks, with the instance
};

}  // namespace mpa
