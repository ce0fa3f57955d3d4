// SPDX-License-Identifier: Apache-2.0
// What hosts do more than others of their kind.
#include "host_comparison.h"

#include <algorithm>
#include <utility>

#include "host_stretches.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/measure/quantiles.h"

namespace mpa {

const std::vector<HostFamily>& HostFamilies() {
  static const std::vector<HostFamily> families = {
      {kRankLateHost,
       "",
       TimeCategory::kDispatchOp,
       {TimeCategory::kDispatchOp, TimeCategory::kDispatchCann, TimeCategory::kDispatchComm,
        TimeCategory::kPython, TimeCategory::kHostIdle, TimeCategory::kScalarSync,
        TimeCategory::kExplicitSync},
       {}},
      {kRankLateHost,
       "compile",
       TimeCategory::kCompile,
       {TimeCategory::kCompile, TimeCategory::kAclOp},
       {},
       HostFamily::Peers::kAll},
      {kRankLateHost,
       "memory",
       TimeCategory::kMemory,
       {TimeCategory::kMemory},
       {TimeCategory::kMemory},
       HostFamily::Peers::kAll},
      {kRankLateHost,
       "sync",
       TimeCategory::kScalarSync,
       {TimeCategory::kScalarSync},
       {TimeCategory::kScalarSync, TimeCategory::kExplicitSync}},
      {kRankLateInput,
       "",
       TimeCategory::kDataLoader,
       {TimeCategory::kDataLoader, TimeCategory::kHostCopy},
       {TimeCategory::kHostCopy},
       HostFamily::Peers::kWhoDoIt,
       true},
  };
  return families;
}

std::vector<Excess> HostComparison::ExcessesOf(const HostFamily& family) {
  const auto usual = job_.UsualHost(family.categories, family.blocks);
  std::vector<Excess> excesses;
  for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
    const std::vector<std::size_t>* compared = &job_.RoleOf(rank);
    const std::vector<HostAmount>* normal = &usual.at(job_.role[rank]);
    if (compared->size() <= kPairOfRanks && family.peers != HostFamily::Peers::kOfRole) {
      const auto [found, is_new] =
          elsewhere_.try_emplace({&family, job_.operations.connected_component[rank]});
      if (is_new) found->second = FindElsewhere(rank, family);
      if (found->second.ranks.size() > compared->size()) {
        compared = &found->second.ranks;
        normal = &found->second.amounts;
      }
    }
    if (!CanCompare(job_, compared->size())) continue;
    excesses.push_back(ExcessOf(rank, family, *normal));
    excesses.back().compared = compared;
  }
  return excesses;
}

TimeCategory HostComparison::CategoryOf(const HostFamily& family, const Excess& excess) const {
  TimeCategory largest = family.named;
  TimeNs most = 0;
  const auto offer = [&](TimeCategory category, TimeNs over) {
    if (over <= most) return;
    most = over;
    largest = category;
  };
  for (const TimeCategory category : family.categories) {
    const std::vector<HostAmount> usual = job_.UsualHost(*excess.compared, {category}, {});
    TimeNs over = 0, over_copied = 0;
    for (const std::size_t step : LateSteps(job_, excess)) {
      const HostAmount amount = job_.work[excess.rank][step].HostOf({category}, {});
      over += std::max<TimeNs>(0, amount.time - usual[step].time);
      over_copied += std::max<TimeNs>(0, amount.copies - usual[step].copies);
    }
    const bool is_copy = family.copies && category == TimeCategory::kHostCopy;
    offer(category, over + (is_copy ? over_copied : 0));
  }
  return largest;
}

HostComparison::UsualElsewhere HostComparison::FindElsewhere(RankIndex rank,
                                                             const HostFamily& family) {
  std::vector<std::size_t> peers = AllWith(rank);
  if (family.peers == HostFamily::Peers::kWhoDoIt) {
    const auto does_it = [&](const StepWork& step) {
      return step.HostOf(family.categories, {}).time > 0;
    };
    std::erase_if(peers,
                  [&](std::size_t peer) { return std::ranges::none_of(job_.work[peer], does_it); });
  }
  std::vector<HostAmount> amounts;
  if (!peers.empty()) amounts = job_.UsualHost(peers, family.categories, family.blocks);
  return {std::move(peers), std::move(amounts)};
}

const std::vector<std::size_t>& HostComparison::AllWith(RankIndex rank) {
  const auto [found, is_new] =
      connected_components_.try_emplace(job_.operations.connected_component[rank]);
  if (!is_new) return found->second;
  for (std::size_t other = 0; other < job_.ranks.size(); ++other) {
    if (job_.operations.connected_component[other] == found->first) found->second.push_back(other);
  }
  return found->second;
}

Excess HostComparison::ExcessOf(RankIndex rank, const HostFamily& family,
                                const std::vector<HostAmount>& usual) const {
  Excess excess;
  excess.rank = rank;
  excess.by_step.assign(job_.steps, 0);
  excess.normal_by_step.assign(job_.steps, 0);
  excess.blocked_more.assign(job_.steps, false);
  const RankDiagnosis& part = job_.Part(rank);
  std::vector<double> less(job_.steps, 0), less_copied(job_.steps, 0);
  TimeNs time = 0, normal_time = 0;
  for (std::size_t step = 0; step < job_.steps; ++step) {
    if (!job_.RoleHasOneLoad(rank, step)) continue;
    const HostAmount amount = job_.work[rank][step].HostOf(family.categories, family.blocks);
    const TimeNs own = amount.time, normal = usual[step].time;
    const TimeNs over = std::max<TimeNs>(0, own - normal);
    const TimeNs copied = family.copies ? amount.copies : 0;
    const TimeNs over_copied = std::max<TimeNs>(0, copied - usual[step].copies);
    if (own > 0) less[step] = Share(over, own);
    if (copied > 0) less_copied[step] = Share(over_copied, copied);
    excess.blocked_more[step] =
        amount.blocks > ShareOf(usual[step].blocks, job_.thresholds[kLateBlocksRatio]) + 1;
    if (step < job_.first_step) continue;
    time += over + over_copied;
    excess.by_step[step] = over + over_copied;
    excess.normal_by_step[step] = std::min(own, normal) + (copied - over_copied);
    normal_time += excess.normal_by_step[step];
  }
  excess.time = PerStep(job_, time);
  excess.normal = PerStep(job_, normal_time);
  std::vector<std::vector<const HostShare*>> shares(job_.steps);
  for (const HostShare& share : part.shares) {
    const std::int32_t step = job_.StepOfEdge(rank, share.edge);
    if (step >= 0 && IsOf(family.categories, share.category) &&
        less[static_cast<std::size_t>(step)] > 0)
      shares[static_cast<std::size_t>(step)].push_back(&share);
  }
  for (std::size_t step = 0; step < job_.steps; ++step) {
    std::vector<TimeNs> times;
    TimeNs all = 0;
    for (const HostShare* share : shares[step]) {
      times.push_back(share->time);
      all += share->time;
    }
    const std::vector<TimeNs> removed =
        SpreadExcess(times, ShareOf(all, less[step]), job_.thresholds[kStallRatio]);
    for (std::size_t i = 0; i < removed.size(); ++i) {
      if (removed[i] > 0)
        excess.removal.waits.push_back(
            {job_.graph.first_edge[rank] + shares[step][i]->edge, removed[i]});
    }
  }
  for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
    const GraphNode& node = part.graph.nodes[i];
    if (node.category != TimeCategory::kCopyIn || !job_.Holds(node.step)) continue;
    const auto removed = static_cast<TimeNs>(less_copied[static_cast<std::size_t>(node.step)] *
                                             static_cast<double>(node.dur));
    if (removed > 0) excess.removal.durations.push_back({job_.graph.first_node[rank] + i, removed});
  }
  for (const BlockedPart& blocked : part.blocked) {
    if (!job_.Holds(blocked.step)) continue;
    if (IsOf(family.blocks, blocked.category) &&
        excess.blocked_more[static_cast<std::size_t>(blocked.step)]) {
      DropWait(job_, rank, blocked, excess.removal);
    }
  }
  return excess;
}

std::vector<TimeNs> SpreadExcess(const std::vector<TimeNs>& times, TimeNs over, double stands_out) {
  std::vector<TimeNs> less(times.size(), 0);
  if (times.empty() || over <= 0) return less;
  std::vector<TimeNs> sorted = times;
  const TimeNs usual = ValueAtPosition(sorted, PercentileIndex(sorted.size(), 50));
  TimeNs all = 0, outstanding = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    all += times[i];
    if (static_cast<double>(times[i]) < stands_out * static_cast<double>(usual)) continue;
    less[i] = times[i] - usual;
    outstanding += less[i];
  }
  const bool is_most = 2 * std::min(outstanding, over) > over;
  if (!is_most) std::ranges::fill(less, 0);
  const TimeNs taken = is_most ? std::min(outstanding, over) : 0, rest = all - taken;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (is_most && outstanding > over) less[i] = ShareOf(less[i], Share(over, outstanding));
    if (over > taken && rest > 0) less[i] += ShareOf(times[i] - less[i], Share(over - taken, rest));
  }
  return less;
}

namespace {

// Of two ranks that differ in a step either may be the odd one. The one that is slower in most
// steps is the one to look at.
bool IsHabit(const Job& job, const Excess& excess) {
  const std::size_t seen = LateSteps(job, excess).size();
  return IsAtLeast(seen, job.thresholds[kLatePairSteps]) &&
         static_cast<double>(seen) >=
             job.thresholds[kSystematicShare] * static_cast<double>(job.CountedSteps());
}

}  // namespace

bool Matters(const Job& job, const Excess& excess) {
  return static_cast<double>(excess.time) >=
             job.thresholds[kLateShare] * static_cast<double>(job.step_time) &&
         static_cast<double>(excess.time) >=
             job.thresholds[kLateOfPeers] * static_cast<double>(excess.normal);
}

std::vector<std::size_t> LateSteps(const Job& job, const Excess& excess) {
  const TimeNs least = ShareOf(job.step_time, job.thresholds[kLateShare]);
  std::vector<std::size_t> steps;
  for (std::size_t step = job.first_step; step < job.steps; ++step) {
    const bool blocked = step < excess.blocked_more.size() && excess.blocked_more[step];
    if (blocked || excess.by_step[step] >= least) steps.push_back(step);
  }
  return steps;
}

bool IsOdd(const Job& job, const Excess& excess) {
  return excess.compared->size() > kPairOfRanks || IsHabit(job, excess);
}

namespace {

// The lateness of the rank where it was the last one of all, captured or not; null: it never was.
const LateRanks* AsLast(const Job& job, const Excess& excess) {
  const std::vector<RankId> alone = {job.ranks[excess.rank].rank};
  const auto& late = job.operations.lateness.ranks;
  const auto found = std::ranges::find_if(late, [&](const LateRanks& of) {
    return of.captured && of.ranks == alone && of.times_last > 0;
  });
  return found == late.end() ? nullptr : &*found;
}

// Operations that run beside others are late by what those before them were late: the sum of the
// lateness may be a multiple of the excess, but not a small part of it.
bool CameLast(const Job& job, const Excess& excess) {
  constexpr double kHeldUp = 0.5;
  const LateRanks* late = AsLast(job, excess);
  if (late == nullptr) return false;
  const TimeNs least = std::max(Whole(job.thresholds[kUncapturedNs]),
                                ShareOf(job.step_time, job.thresholds[kUncapturedShare]));
  const auto steps = static_cast<TimeNs>(job.CountedSteps());
  return late->as_last >= least * steps && late->as_last >= ShareOf(excess.time, kHeldUp) * steps &&
         excess.time >= ShareOf(late->most, job.thresholds[kLateBehindShare]);
}

}  // namespace

bool IsSure(const Job& job, const Excess& excess) {
  return IsOdd(job, excess) || CameLast(job, excess);
}

Certainty CertaintyOfLast(const Job& job, const Excess& excess) {
  const LateRanks* late = AsLast(job, excess);
  const bool explains =
      late != nullptr && excess.time >= ShareOf(late->most, job.thresholds[kLateMainShare]);
  return explains ? Certainty::kMedium : Certainty::kLow;
}

}  // namespace mpa
