// SPDX-License-Identifier: Apache-2.0
// When ranks that were not captured came, as those saw it that waited for them.
#include <algorithm>

#include "mpa/diagnosis/causes/late_rank.h"

namespace mpa {
namespace {

constexpr std::size_t kMostArrivals = 5;

class UncapturedChain {
 public:
  UncapturedChain(const Job& job, const FoundCause& finding) : job_(job), finding_(finding) {}

  void Add(FindingChain& chain) const {
    std::vector<std::size_t> late;  // operations
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      if (LateIn(i) != nullptr && !Of(i).joint.members.empty()) late.push_back(i);
    }
    const auto behind = [&](std::size_t i) { return LateIn(i)->Behind(); };
    std::stable_sort(late.begin(), late.end(),
                     [&](std::size_t a, std::size_t b) { return behind(a) > behind(b); });
    const std::size_t shown = std::min(kMostArrivals, late.size());
    chain.more_arrivals = late.size() - shown;
    late.resize(shown);
    std::stable_sort(late.begin(), late.end(), [&](std::size_t a, std::size_t b) {
      return LateIn(a)->time < LateIn(b)->time;
    });
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
      const auto found = std::find_if(
          rows.begin(), rows.end(), [&](const RankRuns::Row& met) { return met.operation == row; });
      if (found == rows.end()) continue;
      const LastArrival& last =
          part.collectives.last[static_cast<std::size_t>(found - rows.begin())];
      if (last.known && last.time > found->start)
        arrival.observers.push_back({job_.ranks[member.rank].rank, last.time - found->start});
    }
    std::stable_sort(arrival.observers.begin(), arrival.observers.end(),
                     [](const TimeOfRank& a, const TimeOfRank& b) { return a.time > b.time; });
  }

  // When the host of a rank called for the operation; -1: not recorded.
  TimeNs AskedFor(std::size_t operation, std::size_t rank) const {
    const RankGraph& graph = job_.Part(rank).graph;
    for (const JointOperation::Member& member : Of(operation).joint.members) {
      if (member.rank != rank) continue;
      const std::uint32_t arrive = graph.collectives[member.collective].arrive;
      const auto call =
          std::find_if(graph.edges.begin(), graph.edges.end(), [&](const GraphEdge& edge) {
            return edge.node == arrive && graph.nodes[edge.on].kind == NodeKind::kLaunch;
          });
      return call == graph.edges.end() ? -1 : graph.nodes[call->on].start;
    }
    return -1;
  }

  const Job& job_;
  const FoundCause& finding_;
};

}  // namespace

void ExplainUncaptured(const Job& job, const FoundCause& finding, FindingChain& chain) {
  UncapturedChain(job, finding).Add(chain);
}

}  // namespace mpa
