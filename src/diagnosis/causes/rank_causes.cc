// SPDX-License-Identifier: Apache-2.0
// Ranks that hold up the others, among those that were captured.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "finders.h"
#include "host_comparison.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/causes/cause.h"
#include "small_operations.h"

namespace mpa {
namespace {

class RankCauses {
 public:
  RankCauses(const Job& job, std::vector<Cause>& causes)
      : job_(job), causes_(causes), hosts_(job) {}

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
      const std::vector<std::size_t>& compared =
          is_slow_role ? hosts_.AllWith(rank) : job_.RoleOf(rank);
      if (!CanCompare(job_, compared.size())) continue;
      Excess excess = ComputeExcess(rank);
      excess.compared = &compared;
      if (!Matters(job_, excess) || !IsSure(job_, excess)) continue;
      // Work of other shapes than the peers have is more work, not slower work.
      const bool more_work = static_cast<double>(excess.foreign) >
                             job_.rules.foreign_share * static_cast<double>(excess.time);
      (!more_work                           ? late
       : 2 * excess.tokens > excess.foreign ? uneven
                                            : larger)
          .push_back(std::move(excess));
    }
    AddAlike("rank.late_compute", "", Leaf::kMatmul, late, [&](const Excess& first, Cause& cause) {
      cause.finding.leaf = LargestComputeLeaf(first.rank);
      AddClock(first.rank, cause);
    });
    AddAlike("ep.imbalance", "", Leaf::kGroupedMatmul, uneven, [&](const Excess&, Cause& cause) {
      // A few tokens fall on some experts by chance, and on others in the next step.
      if (Infers(job_)) cause.finding.confidence = Certainty::kLow;
    });
    AddAlike("data.imbalance", "", Leaf::kMatmul, larger, [&](const Excess& first, Cause& cause) {
      cause.finding.leaf = LargestComputeLeaf(first.rank);
    });
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
        if (own.time > 0)
          less[step][type] = static_cast<double>(over) / static_cast<double>(own.time);
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
      if (node.kind != NodeKind::kKernel || node.step < 0 ||
          static_cast<std::size_t>(node.step) >= job_.steps)
        continue;
      const auto& shares = less[static_cast<std::size_t>(node.step)];
      const auto share = shares.find(part.TypeOf(node));
      if (share == shares.end() || share->second <= 0) continue;
      excess.removal.durations.push_back(
          {job_.graph.first_node[rank] + i,
           static_cast<TimeNs>(share->second * static_cast<double>(node.dur))});
    }
    return excess;
  }

  std::string LargestComputeLeaf(std::size_t rank) const {
    std::array<TimeNs, kLeaves> own{}, normal{};
    const auto sum = [&](std::size_t of, std::array<TimeNs, kLeaves>& times) {
      for (std::size_t step = job_.first_step; step < job_.Part(of).steps.size(); ++step) {
        for (std::size_t leaf = 0; leaf < kLeaves; ++leaf)
          times[leaf] += job_.Part(of).steps[step].leaves[leaf];
      }
    };
    sum(rank, own);
    const std::vector<std::size_t>& peers = job_.RoleOf(rank);
    for (const std::size_t peer : peers) sum(peer, normal);
    std::size_t largest = 0;
    const auto over = [&](std::size_t leaf) {
      return own[leaf] - normal[leaf] / static_cast<TimeNs>(peers.size());
    };
    for (std::size_t leaf = 0; leaf < kLeaves && IsCompute(static_cast<Leaf>(leaf)); ++leaf) {
      if (over(leaf) > over(largest)) largest = leaf;
    }
    return std::string(NameOf(static_cast<Leaf>(largest)));
  }

  void AddClock(std::size_t rank, Cause& cause) const {
    const auto mean = [&](std::size_t of) {
      double sum = 0;
      for (std::size_t step = job_.first_step; step < job_.Part(of).steps.size(); ++step)
        sum += static_cast<double>(job_.Part(of).steps[step].mhz);
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
    std::vector<Excess> late, any = hosts_.ExcessesOf(family);
    if (AddJitter(any, family.named)) return;
    for (Excess& excess : any) {
      const bool matters = Matters(job_, excess) || !excess.removal.cuts.empty();
      if (matters && IsSure(job_, excess)) late.push_back(std::move(excess));
    }
    AddAlike(family.id, family.place, family.named, late, [&](const Excess& worst, Cause& cause) {
      cause.finding.leaf = NameOf(hosts_.LeafOf(family, worst));
      cause.late->leaves = family.leaves;
      cause.late->copies = family.copies;
    });
  }

  // Another rank is late in each step, by far: nothing is wrong with any of them alone.
  bool AddJitter(std::vector<Excess>& excesses, Leaf leaf) {
    const auto steps = static_cast<double>(job_.CountedSteps());
    if (steps < job_.rules.jitter_steps || excesses.size() < 2) return false;
    std::map<std::size_t, double> worst_in;  // steps, by rank
    double cost = 0;
    std::vector<StepStall> found;
    for (std::size_t step = job_.first_step; step < job_.steps; ++step) {
      const Excess* worst = nullptr;
      TimeNs others = 0;
      for (const Excess& excess : excesses) {
        if (worst == nullptr || excess.by_step[step] > worst->by_step[step]) worst = &excess;
      }
      for (const Excess& excess : excesses)
        others = &excess == worst ? others : std::max(others, excess.by_step[step]);
      // A moment more than the others is noise, whoever has it.
      const bool stalls = worst->by_step[step] >= ShareOf(job_.step_time, job_.rules.jitter_share);
      if (!stalls || 2 * others > worst->by_step[step]) continue;
      ++worst_in[worst->rank];
      cost += static_cast<double>(worst->by_step[step] - others);
      found.push_back({job_.Part(0).IdOfStep(static_cast<std::int32_t>(step)),
                       job_.ranks[worst->rank].rank, worst->by_step[step], others});
    }
    double seen = 0, top = 0;
    for (const auto& [rank, count] : worst_in) {
      seen += count;
      top = std::max(top, count);
    }
    // A stall in a single step is an accident of a rank.
    if (!IsAtLeast(worst_in.size(), job_.rules.jitter_ranks) || 2 * seen <= steps ||
        top > job_.rules.jitter_top_share * steps)
      return false;
    if (cost / steps < job_.rules.jitter_share * static_cast<double>(job_.step_time)) return false;
    Cause cause = NewCause(job_, "rank.jitter", std::string(NameOf(leaf)));
    for (const Excess& excess : excesses) Append(excess.removal, cause.what_if.expect);
    cause.stalls = std::move(found);
    cause.finding.leaf = NameOf(leaf);
    cause.finding.metrics.push_back(
        {"different_ranks", static_cast<double>(worst_in.size()), "count"});
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
      cause.finding.metrics.push_back(
          {"slower_than_peers", static_cast<double>(normal + time) / static_cast<double>(normal),
           "ratio"});
    }
    const auto count = static_cast<TimeNs>(std::max<std::size_t>(1, steps.size()));
    cause.finding.metrics.push_back({"excess_per_step", static_cast<double>(time / count), "ns"});
  }

  // Ranks that are about equally late are one cause: mending one of them wins nothing.
  template <typename Describe>
  void AddAlike(std::string_view id, std::string_view place, Leaf leaf, std::vector<Excess>& late,
                Describe describe) {
    std::stable_sort(late.begin(), late.end(),
                     [](const Excess& a, const Excess& b) { return a.time > b.time; });
    for (std::size_t first = 0; first < late.size();) {
      std::size_t last = first;
      while (last + 1 < late.size() &&
             static_cast<double>(late[first].time) <=
                 job_.rules.late_alike * static_cast<double>(late[last + 1].time))
        ++last;
      std::vector<std::int64_t> ranks;
      std::set<std::size_t> steps;
      Removal removal;
      for (std::size_t i = first; i <= last; ++i) {
        ranks.push_back(job_.ranks[late[i].rank].rank);
        for (const std::size_t step : LateSteps(job_, late[i])) steps.insert(step);
        Append(late[i].removal, removal);
      }
      std::sort(ranks.begin(), ranks.end());
      Cause cause = NewCause(
          job_, id, fmt::format("r{}{}{}", fmt::join(ranks, "+"), place.empty() ? "" : "/", place));
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
  HostComparison hosts_;
};

}  // namespace

bool CanCompare(const Job& job, std::size_t ranks) {
  return IsAtLeast(ranks, job.rules.late_peers) &&
         (ranks > kPairOfRanks || IsAtLeast(job.CountedSteps(), job.rules.late_pair_steps));
}

void FindRankCauses(const Job& job, std::vector<Cause>& causes) { RankCauses(job, causes).Find(); }

}  // namespace mpa
