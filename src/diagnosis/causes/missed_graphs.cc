// SPDX-License-Identifier: Apache-2.0
// Steps of a server that decode without the captured graph that others run.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "finder.h"
#include "mpa/base/rank.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

constexpr Threshold kGraphSteps{"steps", 3, 1, kMaxCalls,
                                "fewer steps that run a graph do not show what is usual"},
    kGraphRatio{"ratio", 1.5, 1, 1000,
                "a step without a graph leaves the device idle for this many times as long"};

constexpr MetricInfo kStepsWithoutGraph{"steps_without_graph", "count", "{} steps without a graph"},
    kRequestsWithoutGraph{"requests_without_graph", "count", "up to {} requests in them"};

TimeNs FreeTimeOf(const StepPart& step) {
  TimeNs free = 0;
  for (std::size_t category = 0; category < step.categories.size(); ++category) {
    if (IsFree(static_cast<TimeCategory>(category))) free += step.categories[category];
  }
  return free;
}

class MissedGraphs : Finder {
 public:
  using Finder::Finder;

  void Find() {
    Finding candidate = NewFinding(job_, kHostGraphMissed);
    std::set<std::int32_t> ids;
    std::int64_t steps = 0, requests = 0;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      const std::vector<TimeNs> work = HostWork(rank);
      const TimeNs usual_free =
          Usual(part, [&](std::size_t i) { return FreeTimeOf(part.steps[i]); });
      const TimeNs usual_work = Usual(part, [&](std::size_t i) { return work[i]; });
      if (usual_free < 0) continue;
      std::map<std::int32_t, double> missed;  // the share of the host's work that a graph saves
      for (std::size_t i = job_.first_step; i < std::min(job_.steps, part.steps.size()); ++i) {
        const StepPart& step = part.steps[i];
        const TimeNs free = FreeTimeOf(step);
        const bool is_missed =
            step.batch.phase == ServingPhase::kDecode && step.graphs == 0 && free > 0 &&
            static_cast<double>(free) >= thresholds_[kGraphRatio] * static_cast<double>(usual_free);
        if (!is_missed || work[i] <= usual_work) continue;
        missed[static_cast<std::int32_t>(i)] = 1 - Share(usual_work, work[i]);
        ids.insert(step.id);
        requests = std::max(requests, step.batch.requests);
        ++steps;
      }
      if (missed.empty()) continue;
      candidate.ranks.push_back(job_.ranks[rank].rank);
      TakeFromHost(rank, missed, candidate.what_if.expect);
    }
    if (ids.empty()) return;
    if (candidate.ranks.size() == job_.ranks.size()) candidate.ranks.clear();
    candidate.steps.assign(ids.begin(), ids.end());
    candidate.Measure(kStepsWithoutGraph, steps);
    if (requests > 0) candidate.Measure(kRequestsWithoutGraph, requests);
    candidates_.push_back(std::move(candidate));
  }

 private:
  // What surrounds the model, sampling say, is the same with a graph.
  template <typename Visit>
  void ForEachOfModel(RankIndex rank, Visit visit) const {
    const RankDiagnosis& part = job_.Part(rank);
    for (std::size_t i = 0; i < part.shares.size(); ++i) {
      const TimeNs around = part.between.empty() ? 0 : part.between[i];
      visit(part.shares[i].edge, part.shares[i].time - around);
    }
  }

  // By step.
  std::vector<TimeNs> HostWork(RankIndex rank) const {
    std::vector<TimeNs> work(job_.steps, 0);
    ForEachOfModel(rank, [&](std::uint32_t edge, TimeNs time) {
      const std::int32_t step = job_.StepOfEdge(rank, edge);
      if (job_.Holds(step)) work[static_cast<std::size_t>(step)] += time;
    });
    return work;
  }

  void TakeFromHost(RankIndex rank, const std::map<std::int32_t, double>& missed,
                    Removal& removal) const {
    ForEachOfModel(rank, [&](std::uint32_t edge, TimeNs time) {
      const auto found = missed.find(job_.StepOfEdge(rank, edge));
      if (found == missed.end()) return;
      if (const TimeNs less = ShareOf(time, found->second); less > 0)
        removal.waits.push_back({job_.graph.first_edge[rank] + edge, less});
    });
  }

  // What is usual for a step that decodes with a graph; -1: unknown.
  template <typename Amount>
  TimeNs Usual(const RankDiagnosis& part, Amount amount) const {
    std::vector<TimeNs> amounts;
    for (std::size_t i = job_.first_step; i < std::min(job_.steps, part.steps.size()); ++i) {
      const StepPart& step = part.steps[i];
      if (step.batch.phase == ServingPhase::kDecode && step.graphs > 0)
        amounts.push_back(amount(i));
    }
    return static_cast<double>(amounts.size()) < thresholds_[kGraphSteps]
               ? -1
               : Median(std::move(amounts));
  }
};

}  // namespace

const FindingType kHostGraphMissed = Fault(
    Area::kHosts, "host.graph_missed", {"framework"}, "decode steps run without a captured graph",
    {.looked_at = "decode steps without a launched graph compared with those that launch one",
     .refuted_by = "no step runs a graph, or the device is as idle in those that do",
     .applies = [](const Coverage& job) { return job.decodes_by_graph; },
     .find = FindBy<MissedGraphs>,
     .advice = {{{"capture graphs for these batch sizes, up to the largest batch",
                  Change("sizes of captured graphs", "up to the largest batch")}}},
     .thresholds = {&kGraphSteps, &kGraphRatio}});

}  // namespace mpa
