// SPDX-License-Identifier: Apache-2.0
// Ranks that hold up the others, among those that were captured.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cause.h"
#include "mpa/base/text.h"

namespace mpa {
namespace {

using Leaves = std::vector<Leaf>;

// What may make the host of a rank late, with the name of the leaf that stands for it.
struct HostFamily {
  std::string_view id, place;
  Leaf named{};
  Leaves leaves, blocks;
  // Whose ranks define what is normal where there are too few of the role: nobody's; those of all that do
  // such work at all; of all, because it is not part of a role.
  enum class Peers : std::uint8_t { kOfRole, kWhoDoIt, kAll } peers = Peers::kOfRole;
  bool copies = false;  // copies to the device belong to it
};

const std::vector<HostFamily>& HostFamilies() {
  static const std::vector<HostFamily> families = {
      {"rank.late_host", "", Leaf::kDispatchOp,
       {Leaf::kDispatchOp, Leaf::kDispatchCann, Leaf::kDispatchComm, Leaf::kPython, Leaf::kHostIdle, Leaf::kScalarSync, Leaf::kExplicitSync}, {}},
      {"rank.late_host", "compile", Leaf::kCompile, {Leaf::kCompile, Leaf::kAclOp}, {}, HostFamily::Peers::kAll},
      {"rank.late_host", "memory", Leaf::kMemory, {Leaf::kMemory}, {Leaf::kMemory}, HostFamily::Peers::kAll},
      {"rank.late_host", "sync", Leaf::kScalarSync, {Leaf::kScalarSync}, {Leaf::kScalarSync, Leaf::kExplicitSync}},
      {"rank.late_input", "", Leaf::kDataLoader, {Leaf::kDataLoader, Leaf::kHostCopy}, {Leaf::kHostCopy}, HostFamily::Peers::kWhoDoIt, true},
  };
  return families;
}

// How much of a family a rank has more than is normal for its role, and what to take out.
struct Excess {
  std::size_t rank = 0;
  const std::vector<std::size_t>* compared = nullptr;  // ranks that say what is normal, with the rank itself
  TimeNs time = 0;    // per step
  TimeNs normal = 0;  // per step
  TimeNs foreign = 0;
  TimeNs tokens = 0;  // of `foreign`, of the products of experts
  std::vector<TimeNs> by_step, normal_by_step;
  std::vector<bool> blocked_more;  // by step: it waits for its device oftener
  Removal removal;
};

// Less is noise, as a share of the step, and of what the peers take.
bool Matters(const Job& job, const Excess& excess) {
  return static_cast<double>(excess.time) >= job.rules.late_share * static_cast<double>(job.step_time) &&
         static_cast<double>(excess.time) >= job.rules.late_of_peers * static_cast<double>(excess.normal);
}

constexpr std::size_t kPair = 2;

// The positions of the steps in which it is late.
std::vector<std::size_t> LateSteps(const Job& job, const Excess& excess) {
  const TimeNs least = ShareOf(job.step_time, job.rules.late_share);
  std::vector<std::size_t> steps;
  for (std::size_t step = job.first_step; step < job.steps; ++step) {
    const bool blocked = step < excess.blocked_more.size() && excess.blocked_more[step];
    if (blocked || excess.by_step[step] >= least) steps.push_back(step);
  }
  return steps;
}

// Of two ranks that differ in a step either may be the odd one. The one that is slower in most steps is
// the one to look at.
bool IsHabit(const Job& job, const Excess& excess) {
  const std::size_t seen = LateSteps(job, excess).size();
  return IsAtLeast(seen, job.rules.late_pair_steps) &&
         static_cast<double>(seen) >= job.rules.systematic_share * static_cast<double>(job.CountedSteps());
}

bool IsSure(const Job& job, const Excess& excess) { return excess.compared->size() > kPair || IsHabit(job, excess); }

class RankCauses {
 public:
  RankCauses(const Job& job, std::vector<Cause>& causes) : job_(job), causes_(causes) {}

  void Find() {
    FindCompute();
    for (const HostFamily& family : HostFamilies()) FindHost(family);
  }

 private:
  void FindCompute() {
    std::vector<Excess> late, uneven, larger;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      // A slow role was compared with the others.
      const bool is_slow_role = job_.slow_roles.contains(job_.role[rank]);
      const std::vector<std::size_t>& compared = is_slow_role ? AllWith(rank) : job_.RoleOf(rank);
      if (!CanCompare(job_, compared.size())) continue;
      Excess excess = ComputeExcess(rank);
      excess.compared = &compared;
      if (!Matters(job_, excess) || !IsSure(job_, excess)) continue;
      // Work of other shapes than the peers have is more work, not slower work.
      const bool more_work = static_cast<double>(excess.foreign) > job_.rules.foreign_share * static_cast<double>(excess.time);
      (!more_work ? late : 2 * excess.tokens > excess.foreign ? uneven : larger).push_back(std::move(excess));
    }
    AddAlike("rank.late_compute", "", Leaf::kMatmul, late, [&](const Excess& first, Cause& cause) {
      cause.finding.leaf = LargestComputeLeaf(first.rank);
      AddClock(first.rank, cause);
    });
    AddAlike("ep.imbalance", "", Leaf::kGroupedMatmul, uneven, [](const Excess&, Cause&) {});
    AddAlike("data.imbalance", "", Leaf::kMatmul, larger, [&](const Excess& first, Cause& cause) { cause.finding.leaf = LargestComputeLeaf(first.rank); });
  }

  Excess ComputeExcess(std::size_t rank) const {
    Excess excess;
    excess.rank = rank;
    excess.by_step.assign(job_.steps, 0);
    excess.normal_by_step.assign(job_.steps, 0);
    const RankDiagnosis& part = job_.Part(rank);
    TimeNs time = 0, normal_time = 0, foreign = 0, tokens = 0;
    std::vector<std::map<std::string, double>> less(job_.steps);  // share of every type's time
    for (std::size_t step = 0; step < job_.steps; ++step) {
      for (const auto& [type, own] : job_.work[rank][step].kernels) {
        const UsualKernel& usual = job_.UsualOf(rank, step, type);
        const TimeNs normal = usual.time;
        // Of a type that others do not have at all it is not more, but other work.
        const bool shared = usual.ranks > 1;
        const TimeNs over = std::max<TimeNs>(0, own.time - normal);
        if (own.time > 0) less[step][type] = static_cast<double>(over) / static_cast<double>(own.time);
        if (step < job_.first_step) continue;
        time += over;
        excess.by_step[step] += over;
        excess.normal_by_step[step] += std::min(normal, own.time);
        normal_time += std::min(normal, own.time);
        foreign += shared ? std::min(over, own.foreign) : 0;
        if (shared && ToLower(type).starts_with("grouped")) tokens += std::min(over, own.foreign);
      }
    }
    excess.time = PerStep(job_, time);
    excess.normal = PerStep(job_, normal_time);
    excess.foreign = PerStep(job_, foreign);
    excess.tokens = PerStep(job_, tokens);
    for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
      const GraphNode& node = part.graph.nodes[i];
      if (node.kind != NodeKind::kKernel || node.step < 0 || static_cast<std::size_t>(node.step) >= job_.steps) continue;
      const auto& shares = less[static_cast<std::size_t>(node.step)];
      const auto share = shares.find(part.names[part.kinds[static_cast<std::size_t>(node.row)].type]);
      if (share == shares.end() || share->second <= 0) continue;
      excess.removal.durations.push_back({job_.graph.first_node[rank] + i, static_cast<TimeNs>(share->second * static_cast<double>(node.dur))});
    }
    return excess;
  }

  std::string LargestComputeLeaf(std::size_t rank) const {
    std::array<TimeNs, kLeaves> own{}, normal{};
    const auto sum = [&](std::size_t of, std::array<TimeNs, kLeaves>& times) {
      for (std::size_t step = job_.first_step; step < job_.Part(of).steps.size(); ++step) {
        for (std::size_t leaf = 0; leaf < kLeaves; ++leaf) times[leaf] += job_.Part(of).steps[step].leaves[leaf];
      }
    };
    sum(rank, own);
    const std::vector<std::size_t>& peers = job_.RoleOf(rank);
    for (const std::size_t peer : peers) sum(peer, normal);
    std::size_t largest = 0;
    const auto over = [&](std::size_t leaf) { return own[leaf] - normal[leaf] / static_cast<TimeNs>(peers.size()); };
    for (std::size_t leaf = 0; leaf < kLeaves && IsCompute(static_cast<Leaf>(leaf)); ++leaf) {
      if (over(leaf) > over(largest)) largest = leaf;
    }
    return std::string(NameOf(static_cast<Leaf>(largest)));
  }

  void AddClock(std::size_t rank, Cause& cause) const {
    const auto mean = [&](std::size_t of) {
      double sum = 0;
      for (std::size_t step = job_.first_step; step < job_.Part(of).steps.size(); ++step) sum += static_cast<double>(job_.Part(of).steps[step].mhz);
      return sum / static_cast<double>(job_.CountedSteps());
    };
    std::vector<double> peers;
    for (const std::size_t peer : job_.RoleOf(rank)) peers.push_back(mean(peer));
    std::sort(peers.begin(), peers.end());
    const double usual = peers[peers.size() / 2], own = mean(rank);
    if (own <= 0 || own >= job_.rules.late_clock_ratio * usual) return;
    cause.finding.metrics.push_back({"clock", own, "MHz"});
    cause.finding.metrics.push_back({"clock_of_peers", usual, "MHz"});
  }

  void FindHost(const HostFamily& family) {
    const auto usual = job_.UsualHost(family.leaves, family.blocks);
    std::map<std::size_t, UsualElsewhere> elsewhere;  // by island
    std::vector<Excess> late, any;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      const std::vector<std::size_t>* compared = &job_.RoleOf(rank);
      const std::vector<HostAmount>* normal = &usual.at(job_.role[rank]);
      if (compared->size() <= kPair && family.peers != HostFamily::Peers::kOfRole) {
        const auto [found, is_new] = elsewhere.try_emplace(job_.operations.island[rank]);
        if (is_new) found->second = FindElsewhere(rank, family);
        if (found->second.ranks.size() > compared->size()) {
          compared = &found->second.ranks;
          normal = &found->second.amounts;
        }
      }
      if (!CanCompare(job_, compared->size())) continue;
      any.push_back(HostExcess(rank, family, *normal));
      any.back().compared = compared;
    }
    if (AddJitter(any, family.named)) return;
    for (Excess& excess : any) {
      const bool matters = Matters(job_, excess) || !excess.removal.cuts.empty();
      if (matters && IsSure(job_, excess)) late.push_back(std::move(excess));
    }
    AddAlike(family.id, family.place, family.named, late, [&](const Excess& worst, Cause& cause) {
      cause.finding.leaf = NameOf(LeafOf(family, worst));
      cause.late->leaves = family.leaves;
      cause.late->copies = family.copies;
    });
  }

  // What of a family a rank has most more of than is normal.
  Leaf LeafOf(const HostFamily& family, const Excess& excess) const {
    Leaf largest = family.named;
    TimeNs most = 0;
    const auto offer = [&](Leaf leaf, TimeNs over) {
      if (over <= most) return;
      most = over;
      largest = leaf;
    };
    for (const Leaf leaf : family.leaves) {
      const std::vector<HostAmount> usual = job_.UsualHost(*excess.compared, {leaf}, {});
      TimeNs over = 0, over_copied = 0;
      for (const std::size_t step : LateSteps(job_, excess)) {
        const HostAmount amount = job_.work[excess.rank][step].HostOf({leaf}, {});
        over += std::max<TimeNs>(0, amount.time - usual[step].time);
        over_copied += std::max<TimeNs>(0, amount.copies - usual[step].copies);
      }
      const bool is_copy = family.copies && leaf == Leaf::kHostCopy;
      offer(leaf, over + (is_copy ? over_copied : 0));
    }
    return largest;
  }

  // What is normal among ranks of any role.
  struct UsualElsewhere {
    std::vector<std::size_t> ranks;
    std::vector<HostAmount> amounts;
  };

  UsualElsewhere FindElsewhere(std::size_t rank, const HostFamily& family) {
    std::vector<std::size_t> peers = AllWith(rank);
    if (family.peers == HostFamily::Peers::kWhoDoIt) {
      const auto does_it = [&](const StepWork& step) { return step.HostOf(family.leaves, {}).time > 0; };
      std::erase_if(peers, [&](std::size_t peer) { return std::none_of(job_.work[peer].begin(), job_.work[peer].end(), does_it); });
    }
    std::vector<HostAmount> amounts;
    if (!peers.empty()) amounts = job_.UsualHost(peers, family.leaves, family.blocks);
    return {std::move(peers), std::move(amounts)};
  }

  // The ranks of its job, itself among them.
  const std::vector<std::size_t>& AllWith(std::size_t rank) {
    const auto [found, is_new] = islands_.try_emplace(job_.operations.island[rank]);
    if (!is_new) return found->second;
    for (std::size_t other = 0; other < job_.ranks.size(); ++other) {
      if (job_.operations.island[other] == found->first) found->second.push_back(other);
    }
    return found->second;
  }

  Excess HostExcess(std::size_t rank, const HostFamily& family, const std::vector<HostAmount>& usual) const {
    Excess excess;
    excess.rank = rank;
    excess.by_step.assign(job_.steps, 0);
    excess.normal_by_step.assign(job_.steps, 0);
    excess.blocked_more.assign(job_.steps, false);
    const RankDiagnosis& part = job_.Part(rank);
    std::vector<double> less(job_.steps, 0), less_copied(job_.steps, 0);
    TimeNs time = 0, normal_time = 0;
    for (std::size_t step = 0; step < job_.steps; ++step) {
      const HostAmount amount = job_.work[rank][step].HostOf(family.leaves, family.blocks);
      const TimeNs own = amount.time, normal = usual[step].time;
      const TimeNs over = std::max<TimeNs>(0, own - normal);
      const TimeNs copied = family.copies ? amount.copies : 0;
      const TimeNs over_copied = std::max<TimeNs>(0, copied - usual[step].copies);
      if (own > 0) less[step] = static_cast<double>(over) / static_cast<double>(own);
      if (copied > 0) less_copied[step] = static_cast<double>(over_copied) / static_cast<double>(copied);
      excess.blocked_more[step] = amount.blocks > ShareOf(usual[step].blocks, job_.rules.late_blocks_ratio) + 1;
      if (step < job_.first_step) continue;
      time += over + over_copied;
      excess.by_step[step] = over + over_copied;
      excess.normal_by_step[step] = std::min(own, normal) + (copied - over_copied);
      normal_time += excess.normal_by_step[step];
    }
    excess.time = PerStep(job_, time);
    excess.normal = PerStep(job_, normal_time);
    for (const HostShare& share : part.shares) {
      const std::int32_t step = job_.StepOfEdge(rank, share.edge);
      if (step < 0 || !IsOf(family.leaves, share.leaf)) continue;
      const auto removed = static_cast<TimeNs>(less[static_cast<std::size_t>(step)] * static_cast<double>(share.time));
      if (removed > 0) excess.removal.waits.push_back({job_.graph.first_edge[rank] + share.edge, removed});
    }
    for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
      const GraphNode& node = part.graph.nodes[i];
      if (node.leaf != Leaf::kCopyIn || node.step < 0 || static_cast<std::size_t>(node.step) >= job_.steps) continue;
      const auto removed = static_cast<TimeNs>(less_copied[static_cast<std::size_t>(node.step)] * static_cast<double>(node.dur));
      if (removed > 0) excess.removal.durations.push_back({job_.graph.first_node[rank] + i, removed});
    }
    for (const BlockedPart& blocked : part.blocked) {
      if (blocked.step < 0 || static_cast<std::size_t>(blocked.step) >= job_.steps) continue;
      if (IsOf(family.blocks, blocked.leaf) && excess.blocked_more[static_cast<std::size_t>(blocked.step)]) {
        DropWait(job_, rank, blocked, excess.removal);
      }
    }
    return excess;
  }

  // Another rank is late in each step, by far: nothing is wrong with any of them alone.
  bool AddJitter(std::vector<Excess>& excesses, Leaf leaf) {
    const auto steps = static_cast<double>(job_.CountedSteps());
    if (steps < job_.rules.jitter_steps || excesses.size() < 2) return false;
    std::map<std::size_t, double> worst_in;  // steps, by rank
    double cost = 0;
    for (std::size_t step = job_.first_step; step < job_.steps; ++step) {
      const Excess* worst = nullptr;
      TimeNs others = 0;
      for (const Excess& excess : excesses) {
        if (worst == nullptr || excess.by_step[step] > worst->by_step[step]) worst = &excess;
      }
      for (const Excess& excess : excesses) others = &excess == worst ? others : std::max(others, excess.by_step[step]);
      // A moment more than the others is noise, whoever has it.
      const bool stalls = worst->by_step[step] >= ShareOf(job_.step_time, job_.rules.jitter_share);
      if (!stalls || 2 * others > worst->by_step[step]) continue;
      ++worst_in[worst->rank];
      cost += static_cast<double>(worst->by_step[step] - others);
    }
    double seen = 0, top = 0;
    for (const auto& [rank, count] : worst_in) {
      seen += count;
      top = std::max(top, count);
    }
    // A stall in a single step is an accident of a rank.
    if (worst_in.size() < 3 || 2 * seen <= steps || top > job_.rules.jitter_top_share * steps) return false;
    if (cost / steps < job_.rules.jitter_share * static_cast<double>(job_.step_time)) return false;
    Cause cause = NewCause(job_, "rank.jitter", std::string(NameOf(leaf)));
    for (const Excess& excess : excesses) Append(excess.removal, cause.what_if.expect);
    cause.finding.leaf = NameOf(leaf);
    cause.finding.metrics.push_back({"different_ranks", static_cast<double>(worst_in.size()), "count"});
    cause.finding.metrics.push_back({"excess_per_step", cost / steps, "ns"});
    causes_.push_back(std::move(cause));
    return true;
  }

  static void Append(const Removal& more, Removal& removal) {
    removal.durations.insert(removal.durations.end(), more.durations.begin(), more.durations.end());
    removal.waits.insert(removal.waits.end(), more.waits.begin(), more.waits.end());
    removal.cuts.insert(removal.cuts.end(), more.cuts.begin(), more.cuts.end());
  }

  // In the steps in which it is late.
  void AddMetrics(const Excess& worst, Cause& cause) const {
    const std::vector<std::size_t> steps = LateSteps(job_, worst);
    TimeNs time = 0, normal = 0;
    for (const std::size_t step : steps) {
      time += worst.by_step[step];
      normal += worst.normal_by_step[step];
    }
    if (normal > 0) {
      cause.finding.metrics.push_back({"slower_than_peers", static_cast<double>(normal + time) / static_cast<double>(normal), "ratio"});
    }
    const auto count = static_cast<TimeNs>(std::max<std::size_t>(1, steps.size()));
    cause.finding.metrics.push_back({"excess_per_step", static_cast<double>(time / count), "ns"});
  }

  // Ranks that are about equally late are one cause: mending one of them wins nothing.
  template <typename Describe>
  void AddAlike(std::string_view id, std::string_view place, Leaf leaf, std::vector<Excess>& late, Describe describe) {
    std::stable_sort(late.begin(), late.end(), [](const Excess& a, const Excess& b) { return a.time > b.time; });
    for (std::size_t first = 0; first < late.size();) {
      std::size_t last = first;
      while (last + 1 < late.size() && static_cast<double>(late[first].time) <= job_.rules.late_alike * static_cast<double>(late[last + 1].time)) ++last;
      std::vector<std::int64_t> ranks;
      std::set<std::size_t> steps;
      Removal removal;
      for (std::size_t i = first; i <= last; ++i) {
        ranks.push_back(job_.ranks[late[i].rank].rank);
        for (const std::size_t step : LateSteps(job_, late[i])) steps.insert(step);
        Append(late[i].removal, removal);
      }
      std::sort(ranks.begin(), ranks.end());
      Cause cause = NewCause(job_, id, fmt::format("r{}{}{}", fmt::join(ranks, "+"), place.empty() ? "" : "/", place));
      cause.finding.ranks = std::move(ranks);
      cause.finding.steps = job_.IdsOf(steps);
      cause.finding.leaf = NameOf(leaf);
      AddMetrics(late[first], cause);
      cause.late = LateWork{late[first].rank, *late[first].compared, {}, false};
      describe(late[first], cause);
      cause.what_if.expect = std::move(removal);
      causes_.push_back(std::move(cause));
      first = last + 1;
    }
  }

  const Job& job_;
  std::vector<Cause>& causes_;
  std::map<std::size_t, std::vector<std::size_t>> islands_;  // ranks, by island
};

}  // namespace

bool CanCompare(const Job& job, std::size_t ranks) {
  return IsAtLeast(ranks, job.rules.late_peers) && (ranks > kPair || IsAtLeast(job.CountedSteps(), job.rules.late_pair_steps));
}

void FindRankCauses(const Job& job, std::vector<Cause>& causes) { RankCauses(job, causes).Find(); }

}  // namespace mpa
