// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/collectives/instances.h"
#include "mpa/collectives/rank_clocks.h"

namespace mpa {

enum class ArrivalSource : std::uint8_t {
  kCaptured,  ///< the rank's own record
  kSeen,      ///< others waited for it
  kBound,     ///< no later than that: nobody waited, or observers disagree
};

/// When a rank came to an instance, on the common clock.
struct Arrival {
  std::int32_t group_rank = -1;  ///< within the group; -1: not recorded
  RankId rank{};                 ///< of the job; -1: not known
  std::int64_t position = -1;    ///< of a captured rank
  TimeNs time = 0;
  ArrivalSource source{};
};

/// By time.
struct InstanceArrivals {
  std::vector<Arrival> all;
  TimeNs end = 0;    ///< median over the members
  TimeNs apart = 0;  ///< from the first end to the last one
  TimeNs lost = 0;   ///< time of all captured members together
};

/// Ranks of the job behind the ranks of a group.
class GroupRanks;

/// When the members of instances came, one instance after the other.
class ArrivalFinder {
 public:
  /// Refers to its arguments.
  ArrivalFinder(const JobCollectives& ranks, const RankClocks& clocks);
  ~ArrivalFinder();

  /// Members of a barrier that have no common clock are compared by their ends, on the clock of the
  /// first of them; other instances without a common clock have no arrivals.
  InstanceArrivals Of(const CollectiveInstance& instance) const;

 private:
  const JobCollectives& ranks_;
  const RankClocks& clocks_;
  std::unique_ptr<const GroupRanks> group_ranks_;
};

/// As many ranks as the job has at least: those that were captured, and those that they met.
std::size_t CountRanksOfJob(const JobCollectives& ranks);

}  // namespace mpa
