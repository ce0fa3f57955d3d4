// SPDX-License-Identifier: Apache-2.0
// Why requests take longer than they have to: all causes together.
#include "findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpa/base/stable_sort.h"
#include "mpa/report/amount.h"

namespace mpa::recipes::serving_requests {

std::string_view NameOf(Cause cause) {
  constexpr std::string_view kNames[] = {
      "kv_blocks_short",          "prefix_cache_missed", "kv_transfer_slow",
      "dp_ranks_uneven",          "instances_uneven",    "forwards_out_of_step",
      "prefill_rides_along",      "scheduler_slow",      "sampler_slow",
      "pre_post_processing_slow", "requests_wait",       "scheduling_takes_turns",
      "gaps_between_steps"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::string TimeText(TimeNs time) { return AmountText(Quantity::kTime, time); }

std::string ShareText(double share) { return fmt::format("{:.0f} %", 100 * share); }

const Group* GroupOf(const Scene& scene, std::size_t instance, int dp_rank) {
  if (!scene.HasInstances() && dp_rank < 0) return &scene.All();
  for (const Group& group : scene.groups) {
    if (group.instance == static_cast<int>(instance) && group.dp_rank == dp_rank) return &group;
  }
  return nullptr;
}

bool RequestsWait(const Scene& scene, const Group& group) {
  if (group.TimesOf(RequestTime::kQueue).size() < kLeastRequests) return false;
  const TimeNs queue = group.At(RequestTime::kQueue, 90);
  const TimeNs first = group.At(RequestTime::kFirstToken, 90);
  constexpr double kShare = 0.3;
  // Who comes waits for the batch that runs.
  TimeNs step = 0;
  for (const Lane& lane : scene.lanes) step = std::max(step, lane.MedianStep());
  const TimeNs whole = first >= 0 ? first : group.At(RequestTime::kEndToEnd, 90);
  return queue > 2 * step && Ratio(queue, whole) >= kShare;
}

double ShareBehindQueue(const Scene& scene, TimeNs part, TimeNs whole) {
  return std::min(1.0, Ratio(part, whole)) * (1 - scene.All().QueueShare());
}

std::vector<Finding> FindCauses(const Scene& scene) {
  std::vector<Finding> found;
  FindQueueCauses(scene, found);
  FindLoadCauses(scene, found);
  FindRankCauses(scene, found);
  FindStepCauses(scene, found);
  FindRequestCauses(scene, found);
  StableSort(found, [](const Finding& a, const Finding& b) { return a.share > b.share; });
  if (!found.empty()) return found;
  FindGaps(scene, found);
  if (found.empty()) FindWaiting(scene, found);
  return found;
}

}  // namespace mpa::recipes::serving_requests
