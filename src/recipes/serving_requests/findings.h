// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "groups.h"
#include "lanes.h"

namespace mpa::recipes::serving_requests {

/// Why requests take longer than they have to.
enum class Cause : std::uint8_t {
  kBlocksShort,
  kPrefixMissed,
  kTransferSlow,
  kRanksUneven,
  kInstancesUneven,
  kOutOfStep,
  kPrefillRidesAlong,
  kSchedulerSlow,
  kSamplerSlow,
  kPrePostSlow,
  // What follows from causes above is told only where there is none of them.
  kRequestsWait,
  kTakeTurns,
  kGapsBetweenSteps,
};
/// "kv_blocks_short": stable.
std::string_view NameOf(Cause cause);

struct Finding {
  Cause cause{};
  std::string where{};     ///< empty: everywhere
  double share = -1;       ///< of the time of all requests that it takes at most; -1: unknown
  std::string title{};     ///< what is wrong
  std::string evidence{};  ///< the numbers that say so
  std::string mend{};
  std::string refuted_by{};  ///< what would speak against it
};

/// What causes are looked for in.
struct Scene {
  Servers servers{};
  std::vector<Group> groups{};  ///< all requests first
  std::vector<Lane> lanes{};
  Intervals device_busy{};  ///< of the devices beside; empty: there are none

  const Group& All() const { return groups.front(); }
  bool HasInstances() const { return servers.size() > 1; }
  std::string WhereOf(const Lane& lane) const {
    return WhereText(lane.name, lane.dp_rank, HasInstances());
  }
};

/// The causes of a file each; they append what they find.
void FindQueueCauses(const Scene& scene, std::vector<Finding>& found);
void FindLoadCauses(const Scene& scene, std::vector<Finding>& found);
void FindRankCauses(const Scene& scene, std::vector<Finding>& found);
void FindStepCauses(const Scene& scene, std::vector<Finding>& found);
void FindRequestCauses(const Scene& scene, std::vector<Finding>& found);
/// Those that follow from others: for where nothing else was found.
void FindWaiting(const Scene& scene, std::vector<Finding>& found);
void FindGaps(const Scene& scene, std::vector<Finding>& found);

/// All of them, those that take most first.
std::vector<Finding> FindCauses(const Scene& scene);

/// Fewer say nothing of a distribution, or of batches.
inline constexpr std::size_t kLeastRequests = 10, kLeastSteps = 20;

/// True if a tenth of the requests waits for longer than the larger part of time to first token is
/// worth: 30 % of that of a tenth, and two steps.
bool RequestsWait(const Scene& scene, const Group& group);
/// Of the time of all requests a part of what they take behind the queue.
double ShareBehindQueue(const Scene& scene, TimeNs part, TimeNs whole);
/// The requests of an instance, or of a data parallel rank of it; null: none is known.
const Group* GroupOf(const Scene& scene, std::size_t instance, int dp_rank = -1);
/// "15.20 ms", and "35 %" of 0.35.
std::string TimeText(TimeNs time);
std::string ShareText(double share);

}  // namespace mpa::recipes::serving_requests
