// SPDX-License-Identifier: Apache-2.0
// Ranks that were not captured and hold up those that were: others saw them come, but did not see
// why.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "finder.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/causes/finding_search.h"

namespace mpa {
namespace {

constexpr MetricInfo kLateBy{"late_by", "ns", "arrived {} after the second-to-last rank"},
    kLateByCaptured{"late_by_captured", "ns", "arrived {} after the captured ranks"},
    kLateByBeforeLast{"late_by_before_last", "ns", "arrived {} after the ranks before it"};

struct LateUncaptured {
  std::vector<RankId> ranks;
  TimeNs worst = 0, sum = 0;  // behind the last of the others
  std::set<std::int32_t> steps;
  std::set<std::size_t> operations;
  bool was_last = false;  // of any operation
  Removal removal;
};

bool Intersects(const std::set<std::size_t>& a, const std::set<std::size_t>& b) {
  return std::ranges::any_of(a, [&](std::size_t value) { return b.contains(value); });
}

class UncapturedCauses : Finder {
 public:
  using Finder::Finder;

  void Find() {
    std::map<std::vector<RankId>, LateUncaptured> by_ranks;
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const JobOperation& operation = job_.operations.all[i];
      for (std::size_t k = 0; k < operation.joint.late.size(); ++k) {
        const LateMembers& members = operation.joint.late[k];
        LateUncaptured& late = by_ranks[members.ranks];
        late.ranks = members.ranks;
        late.worst = std::max(late.worst, members.Behind());
        late.sum += members.Behind();
        late.steps.insert(operation.step);
        late.operations.insert(i);
        late.was_last = late.was_last || k == 0;
        // They come with the last of those before them.
        late.removal.cuts.push_back(job_.graph.late[i][k]);
      }
    }
    std::vector<LateUncaptured> known;
    for (auto& [ranks, late] : by_ranks) {
      if (!ranks.empty()) {
        known.push_back(std::move(late));
      } else {
        AddLate("unknown", {}, std::move(late));
      }
    }
    // As with captured ranks, those that are about equally late are one cause, unless they came to
    // an operation one after the other.
    StableSort(known, std::greater{}, &LateUncaptured::sum);
    for (std::size_t first = 0; first < known.size();) {
      LateUncaptured together;
      std::set<RankId> ranks;
      std::size_t next = first;
      for (; next < known.size() &&
             static_cast<double>(known[first].sum) <=
                 job_.thresholds[kLateAlike] * static_cast<double>(known[next].sum) &&
             !Intersects(together.operations, known[next].operations);
           ++next) {
        together.was_last = together.was_last || known[next].was_last;
        together.operations.insert(known[next].operations.begin(), known[next].operations.end());
        ranks.insert(known[next].ranks.begin(), known[next].ranks.end());
        together.worst = std::max(together.worst, known[next].worst);
        together.steps.insert(known[next].steps.begin(), known[next].steps.end());
        const auto& cuts = known[next].removal.cuts;
        together.removal.cuts.insert(together.removal.cuts.end(), cuts.begin(), cuts.end());
      }
      AddLate(fmt::format("r{}", RankNames(ranks, "+")), {ranks.begin(), ranks.end()},
              std::move(together));
      first = next;
    }
  }

 private:
  void AddLate(const std::string& place, std::vector<RankId> ranks, LateUncaptured late) {
    Finding candidate = NewFinding(job_, kRankLate, place);
    candidate.ranks = std::move(ranks);
    std::vector<std::int32_t> steps;
    for (const std::int32_t id : candidate.steps) {
      if (late.steps.contains(PositionOf(id))) steps.push_back(id);
    }
    if (!steps.empty()) candidate.steps = std::move(steps);
    candidate.Measure(candidate.ranks.empty() ? kLateByCaptured
                      : late.was_last         ? kLateBy
                                              : kLateByBeforeLast,
                      late.worst);
    candidate.what_if.expect = std::move(late.removal);
    candidates_.push_back(std::move(candidate));
  }

  std::int32_t PositionOf(std::int32_t id) const {
    const auto& steps = job_.Part(0).steps;
    const auto found = std::ranges::find(steps, id, &StepPart::id);
    return static_cast<std::int32_t>(found - steps.begin());
  }
};

}  // namespace

// When ranks that were not captured came, as those saw it that waited for them.

namespace {

constexpr std::size_t kMaxArrivals = 5;

class UncapturedChain {
 public:
  UncapturedChain(const Job& job, const Finding& finding) : job_(job), finding_(finding) {}

  void Add(FindingChain& chain) const {
    std::vector<std::size_t> late;  // operations
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      if (LateIn(i) != nullptr && !Of(i).joint.members.empty()) late.push_back(i);
    }
    const auto behind = [&](std::size_t i) { return LateIn(i)->Behind(); };
    StableSort(late, std::greater{}, behind);
    const std::size_t shown = std::min(kMaxArrivals, late.size());
    chain.more_arrivals = late.size() - shown;
    late.resize(shown);
    StableSort(late,
               [&](std::size_t a, std::size_t b) { return LateIn(a)->time < LateIn(b)->time; });
    for (const std::size_t i : late) {
      SeenArrival& arrival = chain.arrivals.emplace_back();
      const JointOperation::Member& first = Of(i).joint.members[0];
      arrival.operation = job_.Part(first.rank).names[job_.PartOf(first).name];
      arrival.step = job_.Part(0).IdOfStep(Of(i).step);
      arrival.behind = behind(i);
      arrival.came = LateIn(i)->time - LateIn(late[0])->time;
      const TimeNs asked = AskedFor(late[0], first.rank), asked_then = AskedFor(i, first.rank);
      if (asked >= 0 && asked_then >= 0) arrival.asked = asked_then - asked;
      AddObservers(Of(i), arrival);
    }
  }

 private:
  const JobOperation& Of(std::size_t operation) const { return job_.operations.all[operation]; }

  const LateMembers* LateIn(std::size_t operation) const {
    return FindLate(Of(operation), finding_.ranks);
  }

  // As each of them recorded it itself.
  void AddObservers(const JobOperation& operation, SeenArrival& arrival) const {
    for (const JointOperation::Member& member : operation.joint.members) {
      const RankDiagnosis& part = job_.Part(member.rank);
      const std::int32_t row = part.graph.collectives[member.collective].row;
      const auto& rows = part.collectives.runs.rows;
      const auto found = std::ranges::find(rows, row, &RankRuns::Row::operation);
      if (found == rows.end()) continue;
      const LastArrival& last =
          part.collectives.last[static_cast<std::size_t>(found - rows.begin())];
      if (last.known && last.time > found->start)
        arrival.observers.push_back({job_.ranks[member.rank].rank, last.time - found->start});
    }
    StableSort(arrival.observers, std::greater{}, &TimeOfRank::time);
  }

  // When the host of a rank called for the operation; -1: not recorded.
  TimeNs AskedFor(std::size_t operation, RankIndex rank) const {
    const RankGraph& graph = job_.Part(rank).graph;
    for (const JointOperation::Member& member : Of(operation).joint.members) {
      if (member.rank != rank) continue;
      const std::uint32_t arrive = graph.collectives[member.collective].arrive;
      const auto call = std::ranges::find_if(graph.edges, [&](const GraphEdge& edge) {
        return edge.node == arrive && graph.nodes[edge.on].kind == NodeKind::kLaunch;
      });
      return call == graph.edges.end() ? -1 : graph.nodes[call->on].start;
    }
    return -1;
  }

  const Job& job_;
  const Finding& finding_;
};

}  // namespace

void ExplainUncaptured(const Job& job, const Finding& finding, FindingChain& chain) {
  UncapturedChain(job, finding).Add(chain);
}

namespace {

AdvicePart CaptureThatRank(Fits fits, std::string_view text,
                           std::vector<std::pair<std::string_view, Action::Value>> options) {
  return If(fits, {text, Capture(std::move(options), true)});
}
bool WasNotCaptured(const AdviceFacts& facts) {
  return facts.absent.empty() || facts.absent.contains(RankState::kNotCaptured);
}
bool HasSteps(const AdviceFacts& facts) { return WasNotCaptured(facts) && facts.has_steps; }
bool LacksSteps(const AdviceFacts& facts) { return WasNotCaptured(facts) && !facts.has_steps; }
bool IsLeftOut(const AdviceFacts& facts) { return facts.absent.contains(RankState::kLeftOut); }
bool IsDamaged(const AdviceFacts& facts) { return facts.absent.contains(RankState::kDamaged); }
bool LacksPart(const AdviceFacts& facts) { return facts.absent.contains(RankState::kPartMissing); }

// What to do about ranks that were captured, or may have been.
AdvicePart AnalyseThatRank() {
  return If(IsLeftOut, {"analyse that rank, too (--rank_list)",
                        {"analyse", {{"option", std::string("rank_list")}}, true}});
}
AdvicePart RepairThatRank() {
  return If(IsDamaged,
            {"copy or parse the capture of that rank again; 'msprof-analyze check' says what is"
             " wrong",
             Check("capture", "msprof-analyze check")});
}
AdvicePart RunThatShard() {
  return If(LacksPart, {"run the shard of that rank, then merge again", {"merge", {}, true}});
}

constexpr std::string_view
    kThatRank = "capture that rank and its node",
    kThatRankAndSteps = "capture that rank and its node, 3 steps or more (warmup=1, active=3)";

}  // namespace

const FindingType kRankLate = Fault(
    Area::kRanks, "rank.late", {"platform"}, "collectives wait for {}",
    {.looked_at = "when each member came to a collective: the peers that captured ranks waited"
                  " for, or the last arrival",
     .refuted_by = "a captured rank came last, or data still moved while the others seemed to wait",
     .problem = kSlowRankProblem,
     .applies = HasOperations,
     .find = FindBy<UncapturedCauses>,
     .advice = {{AnalyseThatRank(), RepairThatRank(), RunThatShard(),
                 CaptureThatRank(
                     LacksSteps, kThatRankAndSteps,
                     {{"level", std::string("Level1")}, {"warmup_steps", 1}, {"active_steps", 3}}),
                 CaptureThatRank(HasSteps, kThatRank, {{"level", std::string("Level1")}})},
                {AnalyseThatRank(), RepairThatRank(), RunThatShard(),
                 CaptureThatRank(LacksSteps, kThatRankAndSteps,
                                 {{"warmup_steps", 1}, {"active_steps", 3}}),
                 CaptureThatRank(HasSteps, kThatRank, {})}},
     .thresholds = {&kUncapturedShare, &kUncapturedNs}});

}  // namespace mpa
