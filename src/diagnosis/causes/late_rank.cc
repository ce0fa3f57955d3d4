// SPDX-License-Identifier: Apache-2.0
// How a rank's excess of work becomes the lateness for which others wait.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

TimeNs ArrivalOf(const Job& job, const JointOperation::Member& member) {
  const std::uint32_t arrive = job.Part(member.rank).graph.collectives[member.collective].arrive;
  return job.graph.graph.Start(job.graph.first_node[member.rank] + arrive);
}

// An operation to which one of the late ranks came last.
struct Late {
  const JobOperation* operation = nullptr;
  JointOperation::Member last;
  TimeNs by = 0;
};

// Where a rank that came late to an operation first fell behind a peer.
class DivergenceFinder {
 public:
  DivergenceFinder(const Job& job, const Late& late, const std::set<std::size_t>& late_ranks)
      : job_(job), late_(late), late_ranks_(late_ranks) {}

  // Equal work is that of one type and shape, in the order of time.
  std::optional<Divergence> Find() const {
    const auto peer = PeerIn();
    const auto step = static_cast<std::size_t>(late_.operation->step);
    if (!peer || step >= job_.Part(late_.last.rank).steps.size() ||
        step >= job_.Part(peer->rank).steps.size())
      return std::nullopt;
    const auto [own_begin, peer_begin] = LeftTogether(*peer);
    const OperationPart &own = job_.PartOf(late_.last), &other = job_.PartOf(*peer);
    std::map<std::pair<std::string, std::string>, std::vector<TimeNs>> ends;
    for (Work& work : WorkBetween(peer->rank, peer_begin, other.start))
      ends[{std::move(work.type), std::move(work.shapes)}].push_back(work.end);
    std::map<std::pair<std::string, std::string>, std::size_t> done;
    Divergence found;
    found.rank = job_.ranks[late_.last.rank].rank;
    found.peer = job_.ranks[peer->rank].rank;
    found.step = job_.Part(0).IdOfStep(late_.operation->step);
    found.until = job_.Part(late_.last.rank).names[own.name];
    found.late = late_.by;
    for (Work& work : WorkBetween(late_.last.rank, own_begin, own.start)) {
      const std::pair key{work.type, work.shapes};
      const std::size_t number = done[key]++;
      const auto equal = ends.find(key);
      if (equal == ends.end() || number >= equal->second.size()) continue;
      found.behind = work.end - equal->second[number];
      if (static_cast<double>(found.behind) <
          job_.thresholds[kLateBehindShare] * static_cast<double>(late_.by))
        continue;
      found.kernel = std::move(work.type);
      found.shapes = std::move(work.shapes);
      AddOrigin(job_.Part(late_.last.rank), work.node, found);
      return found;
    }
    // All that both compute is done in time; what comes behind it is not.
    found.behind = (own.start - own_begin) - (other.start - peer_begin);
    return found;
  }

 private:
  // One of the same role whose arrival is in the middle.
  std::optional<JointOperation::Member> PeerIn() const {
    std::vector<JointOperation::Member> peers;
    for (const JointOperation::Member& member : late_.operation->joint.members) {
      if (!late_ranks_.contains(member.rank) &&
          job_.role[member.rank] == job_.role[late_.last.rank])
        peers.push_back(member);
    }
    if (peers.empty()) return std::nullopt;
    StableSort(peers, {}, [&](const auto& a) { return ArrivalOf(job_, a); });
    return peers[(peers.size() - 1) / 2];
  }

  // When both left what they did together last, each on its own clock; the begin of the step where
  // there is nothing.
  std::pair<TimeNs, TimeNs> LeftTogether(const JointOperation::Member& peer) const {
    const RankIndex rank = late_.last.rank;
    const std::int32_t step = late_.operation->step;
    for (std::size_t i = late_.last.collective; i-- > 0;) {
      const JobOperation& before = job_.operations.all[job_.operations.of_rank[rank][i]];
      if (before.step != step) break;
      if (!before.joint.is_barrier || before.is_apart) continue;
      for (const JointOperation::Member& member : before.joint.members) {
        if (member.rank != peer.rank || member.collective >= peer.collective) continue;
        const OperationPart &own = job_.Part(rank).operations[i], &other = job_.PartOf(member);
        return {own.start + own.dur, other.start + other.dur};
      }
    }
    const auto begin = [&](std::size_t of) {
      return job_.Part(of).steps[static_cast<std::size_t>(step)].begin;
    };
    return {begin(rank), begin(peer.rank)};
  }

  struct Work {
    TimeNs end = 0;  // since both left together
    std::string type, shapes;
    std::uint32_t node = 0;
  };

  // The kernels of a rank between two times, in the order of their starts.
  std::vector<Work> WorkBetween(RankIndex rank, TimeNs begin, TimeNs end) const {
    const RankDiagnosis& part = job_.Part(rank);
    const auto& nodes = part.graph.nodes;
    std::vector<std::uint32_t> kernels;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].kind == NodeKind::kKernel && nodes[i].start >= begin && nodes[i].start < end)
        kernels.push_back(i);
    }
    StableSort(kernels, {}, [&](std::uint32_t a) { return nodes[a].start; });
    std::vector<Work> work;
    for (const std::uint32_t kernel : kernels) {
      const KernelKind& kind = part.KindOf(nodes[kernel]);
      work.push_back({nodes[kernel].start + nodes[kernel].dur - begin, part.names[kind.type],
                      part.names[kind.shapes], kernel});
    }
    return work;
  }

  // The operator that asked for a kernel of the rank, as far as it is recorded.
  static void AddOrigin(const RankDiagnosis& part, std::uint32_t node, Divergence& found) {
    const auto origin = std::ranges::partition_point(
        part.origins, [node](const KernelOrigin& row) { return row.node < node; });
    if (origin == part.origins.end() || origin->node != node) return;
    found.op = part.names[origin->op];
    found.line = part.names[origin->line];
  }

  const Job& job_;
  const Late& late_;
  const std::set<std::size_t>& late_ranks_;  // positions
};

class LateRankChain {
 public:
  LateRankChain(const Job& job, const LateWork& work, const Finding& finding)
      : job_(job), work_(work) {
    for (std::size_t step = job.first_step; step < job.steps; ++step) {
      const auto& of_first = job.Part(0).steps;
      const std::int32_t id = step < of_first.size() ? of_first[step].id : -1;
      const bool is_seen =
          finding.steps.empty() || std::ranges::find(finding.steps, id) != finding.steps.end();
      if (is_seen) steps_.insert(step);
    }
    for (RankIndex rank; rank < job.ranks.size(); ++rank) {
      if (std::ranges::find(finding.ranks, job.ranks[rank].rank) != finding.ranks.end())
        late_.insert(rank);
    }
  }

  LateRank Make() && {
    LateRank late;
    late.rank = job_.ranks[work_.rank].rank;
    late.compared = work_.peers.size();
    late.categories = Categories();
    AddLateness(late);
    Judge(late);
    return late;
  }

 private:
  TimeNs Mean(TimeNs sum) const {
    return sum / static_cast<TimeNs>(std::max<std::size_t>(1, steps_.size()));
  }

  struct Amounts {
    TimeNs own = 0, usual = 0;
  };
  using OfCategories = std::map<TimeCategory, Amounts>;

  std::vector<CategoryExcess> Categories() const {
    OfCategories sums;
    if (work_.categories.empty()) {
      SumKernels(sums);
    } else {
      for (const std::size_t step : steps_) SumHost(step, sums);
    }
    std::vector<CategoryExcess> categories;
    for (const auto& [category, sum] : sums) {
      if (sum.own > 0 || sum.usual > 0)
        categories.push_back({std::string(NameOf(category)), Mean(sum.own), Mean(sum.usual)});
    }
    StableSort(categories, std::greater{}, &CategoryExcess::Excess);
    return categories;
  }

  // Types of kernels that are faster than usual do not offset those that are slower.
  void SumKernels(OfCategories& sums) const {
    std::map<std::string, TimeCategory> category_of;
    const RankDiagnosis& part = job_.Part(work_.rank);
    for (const GraphNode& node : part.graph.nodes) {
      if (node.kind == NodeKind::kKernel) category_of.try_emplace(part.TypeOf(node), node.category);
    }
    for (const std::size_t step : steps_) {
      for (const auto& [type, own] : job_.work[work_.rank][step].kernels) {
        Amounts& sum = sums[category_of.at(type)];
        sum.own += own.time;
        sum.usual += std::min(own.time, job_.UsualOf(work_.rank, step, type).time);
      }
    }
  }

  // The classes belong together: the usual peer is the one whose sum of them is usual.
  void SumHost(std::size_t step, OfCategories& sums) const {
    const auto time_of = [&](RankIndex rank) {
      return job_.work[rank][step].HostOf(work_.categories, {}).time;
    };
    std::vector<std::size_t> peers = work_.peers;
    StableSort(peers, {}, time_of);
    const std::size_t usual = peers[PercentileIndexAbove(peers.size(), 25)];
    const std::size_t like = time_of(work_.rank) > time_of(usual) ? usual : std::size_t{work_.rank};
    for (const TimeCategory category : work_.categories) {
      sums[category].own += job_.work[work_.rank][step].host[static_cast<std::size_t>(category)];
      sums[category].usual += job_.work[like][step].host[static_cast<std::size_t>(category)];
    }
    if (!work_.copies) return;
    std::vector<TimeNs> copies;
    for (const std::size_t peer : work_.peers) copies.push_back(job_.work[peer][step].copied_in);
    const TimeNs own = job_.work[work_.rank][step].copied_in;
    sums[TimeCategory::kCopyIn].own += own;
    sums[TimeCategory::kCopyIn].usual += std::min(own, LowerQuartile(std::move(copies)));
  }

  void AddLateness(LateRank& late) const {
    Late worst;
    std::map<std::pair<std::string, std::size_t>, TimeNs> sums;  // by group and late rank
    std::map<std::size_t, TimeNs> waiting;
    for (const JobOperation& operation : job_.operations.all) {
      // A receiver waits for its pipeline stage; that does not make the sender late.
      const bool counts = IsBarrierKind(operation.kind) && !operation.is_apart &&
                          operation.step >= 0 &&
                          steps_.contains(static_cast<std::size_t>(operation.step));
      if (!counts) continue;
      const Late found = LateIn(operation);
      if (found.operation == nullptr) continue;
      sums[{operation.group, found.last.rank}] += found.by;
      if (found.by > worst.by) worst = found;
      const TimeNs came = ArrivalOf(job_, found.last);
      for (const JointOperation::Member& member : operation.joint.members) {
        if (!late_.contains(member.rank)) waiting[member.rank] += came - ArrivalOf(job_, member);
      }
    }
    // A rank that is late in one of its groups is late in its other groups, too.
    TimeNs lateness = 0;
    for (const auto& [of, sum] : sums) lateness = std::max(lateness, sum);
    // Less may be an error of the clocks.
    if (Mean(lateness) < std::max(Whole(job_.thresholds[kLatenessNs]),
                                  ShareOf(job_.step_time, job_.thresholds[kLatenessShare])))
      return;
    late.lateness = Mean(lateness);
    for (const auto& [rank, time] : waiting)
      late.waiting.push_back({job_.ranks[rank].rank, Mean(time)});
    StableSort(late.waiting, std::greater{}, &TimeOfRank::time);
    if (worst.operation != nullptr) late.divergence = DivergenceFinder(job_, worst, late_).Find();
  }

  Late LateIn(const JobOperation& operation) const {
    Late late{&operation, {}, 0};
    TimeNs last = -1, others = -1;
    for (const JointOperation::Member& member : operation.joint.members) {
      const TimeNs came = ArrivalOf(job_, member);
      if (!late_.contains(member.rank)) {
        others = std::max(others, came);
      } else if (came > last) {
        last = came;
        late.last = member;
      }
    }
    late.by = last - others;
    // An uncaptured rank may have come even later.
    if (last < 0 || others < 0 || late.by <= 0 || operation.joint.last > last) return {};
    return late;
  }

  void Judge(LateRank& late) const {
    if (late.lateness <= 0 || late.categories.empty() || late.categories[0].Excess() <= 0) return;
    late.share = std::min(1.0, Share(late.categories[0].Excess(), late.lateness));
    late.explained = late.share >= job_.thresholds[kLateCauseShare]  ? Explained::kNearlyAll
                     : late.share >= job_.thresholds[kLateMainShare] ? Explained::kMainly
                                                                     : Explained::kMixed;
  }

  const Job& job_;
  const LateWork& work_;
  std::set<std::size_t> steps_, late_;  // positions
};

}  // namespace

LateRank ExplainLateRank(const Job& job, const LateWork& work, const Finding& finding) {
  return LateRankChain(job, work, finding).Make();
}

}  // namespace mpa
