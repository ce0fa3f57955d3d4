// SPDX-License-Identifier: Apache-2.0
// Steps of a server that decode without the captured graph that others run.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "finder.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

constexpr Threshold kGraphSteps{"steps", 3, 1, kMostCalls,
                                "fewer steps that run a graph do not show what is usual"},
    kGraphRatio{"ratio", 1.5, 1, 1000,
                "a step without a graph leaves the device free for this many times as long"};

constexpr MetricInfo kStepsWithoutGraph{
    "steps_without_graph", "count", {"{} steps without a graph", "{} 个 step 未走图"}},
    kRequestsWithoutGraph{
        "requests_without_graph", "count", {"up to {} requests in them", "其中最多 {} 个请求"}};

TimeNs FreeTimeOf(const StepPart& step) {
  TimeNs free = 0;
  for (std::size_t leaf = 0; leaf < step.leaves.size(); ++leaf) {
    if (IsFree(static_cast<Leaf>(leaf))) free += step.leaves[leaf];
  }
  return free;
}

class MissedGraphs : Finder {
 public:
  using Finder::Finder;

  void Find() {
    Cause cause = NewCause(job_, kHostGraphMissed);
    std::set<std::int32_t> ids;
    std::int64_t steps = 0, requests = 0;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      const RankDiagnosis& part = job_.Part(rank);
      const TimeNs usual = UsualFreeTime(part);
      if (usual < 0) continue;
      std::map<std::int32_t, TimeNs> excess;  // of free time, by step
      for (std::size_t i = job_.first_step; i < std::min(job_.steps, part.steps.size()); ++i) {
        const StepPart& step = part.steps[i];
        const TimeNs free = FreeTimeOf(step);
        const bool is_missed =
            step.batch.phase == ServingPhase::kDecode && step.graphs == 0 && free > 0 &&
            static_cast<double>(free) >= rules_[kGraphRatio] * static_cast<double>(usual);
        if (!is_missed) continue;
        excess[static_cast<std::int32_t>(i)] = free - usual;
        ids.insert(step.id);
        requests = std::max(requests, step.batch.requests);
        ++steps;
      }
      if (excess.empty()) continue;
      cause.finding.ranks.push_back(job_.ranks[rank].rank);
      TakeFromHost(rank, excess, cause.what_if.expect);
    }
    if (ids.empty()) return;
    if (cause.finding.ranks.size() == job_.ranks.size()) cause.finding.ranks.clear();
    cause.finding.steps.assign(ids.begin(), ids.end());
    cause.finding.Measure(kStepsWithoutGraph, steps);
    if (requests > 0) cause.finding.Measure(kRequestsWithoutGraph, requests);
    causes_.push_back(std::move(cause));
  }

 private:
  // Takes the excess out of what the host does in these steps, of each piece the same share.
  void TakeFromHost(std::size_t rank, const std::map<std::int32_t, TimeNs>& excess,
                    Removal& removal) const {
    std::map<std::int32_t, TimeNs> work;
    for (const HostShare& row : job_.Part(rank).shares) {
      work[job_.StepOfEdge(rank, row.edge)] += row.time;
    }
    for (const HostShare& row : job_.Part(rank).shares) {
      const std::int32_t step = job_.StepOfEdge(rank, row.edge);
      const auto found = excess.find(step);
      if (found == excess.end()) continue;
      const double share = std::min(1.0, Ratio(found->second, work[step]));
      if (const TimeNs less = ShareOf(row.time, share); less > 0)
        removal.waits.push_back({job_.graph.first_edge[rank] + row.edge, less});
    }
  }

  // How long a step that decodes with a graph leaves the device free; -1: unknown.
  TimeNs UsualFreeTime(const RankDiagnosis& part) const {
    std::vector<TimeNs> free;
    for (std::size_t i = job_.first_step; i < std::min(job_.steps, part.steps.size()); ++i) {
      const StepPart& step = part.steps[i];
      if (step.batch.phase == ServingPhase::kDecode && step.graphs > 0)
        free.push_back(FreeTimeOf(step));
    }
    return static_cast<double>(free.size()) < rules_[kGraphSteps] ? -1 : Median(std::move(free));
  }
};

}  // namespace

const FindingInfo kHostGraphMissed =
    Fault(Area::kHosts, "host.graph_missed", {"framework"},
          {"steps that decode run without a captured graph", "部分解码 step 未使用已捕获的图"},
          {.applies = [](const Coverage& job) { return job.decodes_by_graph; },
           .find = FindBy<MissedGraphs>,
           .advice = {{{{"capture graphs for these batch sizes, up to the largest batch",
                         "为这些 batch 大小（直至最大 batch）捕获图"},
                        Change("sizes of captured graphs", "up to the largest batch")}}},
           .thresholds = {&kGraphSteps, &kGraphRatio}});

}  // namespace mpa
