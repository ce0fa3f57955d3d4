// SPDX-License-Identifier: Apache-2.0
// Operators that the model computes in several kernels although one could do it at once.
#include <algorithm>
#include <string_view>
#include <vector>

#include "finders.h"
#include "fusible_kernels.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

class FusionCauses {
 public:
  FusionCauses(const Job& job, IssuingOfRanks& issuing, std::vector<Cause>& causes)
      : job_(job), issuing_(issuing), causes_(causes) {}

  void Find() {
    for (const auto& [place, runs] : FindFusible(job_.ranks, job_.rules, job_.step_time)) {
      Cause cause = NewCause(job_, "op.unfused", place);
      AddMetrics(runs, cause);
      if (place == kElementwise) {
        TakeChains(runs, cause.what_if);
      } else {
        for (const FusibleRun& run : runs) TakePattern(run, cause.what_if.expect);
      }
      causes_.push_back(std::move(cause));
    }
  }

 private:
  const std::vector<GraphNode>& NodesOf(const FusibleRun& run) const {
    return job_.Part(run.rank).graph.nodes;
  }

  void AddMetrics(const std::vector<FusibleRun>& runs, Cause& cause) const {
    const auto steps =
        static_cast<double>(job_.ranks.size() * std::max<std::size_t>(1, job_.steps));
    double time = 0;
    for (const FusibleRun& run : runs) {
      for (const std::uint32_t kernel : run.kernels)
        time += static_cast<double>(NodesOf(run)[kernel].dur);
    }
    cause.finding.metrics.push_back(
        {"calls_per_step", static_cast<double>(runs.size()) / steps, "count"});
    cause.finding.metrics.push_back({"time_per_step", time / steps, "ns"});
  }

  std::uint32_t LongestOf(const FusibleRun& run) const {
    const auto& nodes = NodesOf(run);
    return *std::max_element(
        run.kernels.begin(), run.kernels.end(),
        [&](std::uint32_t a, std::uint32_t b) { return nodes[a].dur < nodes[b].dur; });
  }

  // The fused kernel takes as long as the longest piece: it reads and writes once.
  void TakePattern(const FusibleRun& run, Removal& removal) const {
    const std::uint32_t longest = LongestOf(run);
    for (const std::uint32_t piece : run.kernels) {
      if (piece != longest)
        removal.durations.push_back(
            {job_.graph.first_node[run.rank] + piece, NodesOf(run)[piece].dur});
    }
  }

  void TakeChains(const std::vector<FusibleRun>& runs, WhatIf& what_if) const {
    for (std::size_t first = 0; first < runs.size();) {
      const RankDiagnosis& part = job_.Part(runs[first].rank);
      const TimeNs start = StartOfKernel(part);
      std::size_t next = first;
      for (; next < runs.size() && runs[next].rank == runs[first].rank; ++next)
        TakeChain(runs[next], start, what_if);
      first = next;
    }
  }

  // What a kernel takes before it computes: less than that none does.
  static TimeNs StartOfKernel(const RankDiagnosis& part) {
    std::vector<TimeNs> durations;
    for (const GraphNode& node : part.graph.nodes) {
      if (node.kind == NodeKind::kKernel && node.leaf == Leaf::kVector)
        durations.push_back(node.dur);
    }
    return durations.empty() ? 0 : ValueOfRank(durations, NearestRank(durations.size(), 1));
  }

  // One kernel starts once, and its host asks for one; at best it reads and writes once, too.
  void TakeChain(const FusibleRun& run, TimeNs start, WhatIf& what_if) const {
    const auto& nodes = NodesOf(run);
    const std::uint32_t first_node = job_.graph.first_node[run.rank];
    const std::uint32_t longest = LongestOf(run);
    for (const std::uint32_t piece : run.kernels) {
      if (piece != longest) {
        what_if.expect.durations.push_back({first_node + piece, std::min(start, nodes[piece].dur)});
        what_if.bound.durations.push_back({first_node + piece, nodes[piece].dur});
      }
      if (piece == run.kernels.front()) continue;
      for (Removal* removal : {&what_if.expect, &what_if.bound}) {
        removal->prompt.push_back(first_node + piece);
        DropIssuing(job_, run.rank, issuing_[run.rank].Of(piece), 1, *removal);
      }
    }
  }

  const Job& job_;
  IssuingOfRanks& issuing_;
  std::vector<Cause>& causes_;
};

}  // namespace

void FindFusionCauses(const Job& job, IssuingOfRanks& issuing, std::vector<Cause>& causes) {
  FusionCauses(job, issuing, causes).Find();
}

}  // namespace mpa
