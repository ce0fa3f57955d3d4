// SPDX-License-Identifier: Apache-2.0
// Stages of a pipeline that have more layers than others.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "finders.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/diagnosis/causes/micro_batches.h"

namespace mpa {
namespace {

class PipelineCauses {
 public:
  PipelineCauses(const Job& job, std::vector<Cause>& causes) : job_(job), causes_(causes) {}

  void Find() {
    for (const std::int32_t role : job_.stage) stages_.insert(role);
    // A stage that was not captured may be the one with most layers.
    if (stages_.size() < 2 || !ShapeOfPipeline(job_).complete) return;
    AddImbalance();
  }

 private:
  // How often a stage runs a kind of kernel, per rank.
  std::map<std::pair<std::string, std::string>, double> CountsOf(std::int32_t stage) const {
    std::map<std::pair<std::string, std::string>, double> counts;
    double ranks = 0;
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      if (job_.stage[rank] != stage) continue;
      ranks += 1;
      const RankDiagnosis& part = job_.Part(rank);
      for (const GraphNode& node : part.graph.nodes) {
        if (node.kind != NodeKind::kKernel || node.step < 0) continue;
        const KernelKind& kind = part.kinds[static_cast<std::size_t>(node.row)];
        counts[{part.names[kind.type], part.names[kind.shapes]}] += 1;
      }
    }
    for (auto& [kind, count] : counts) count /= ranks;
    return counts;
  }

  // The layers are what all stages have: the kinds of kernels that each of them runs, counted.
  // Embedding and head are apart.
  void AddImbalance() {
    std::map<std::int32_t, std::map<std::pair<std::string, std::string>, double>> counts;
    for (const std::int32_t stage : stages_) counts[stage] = CountsOf(stage);
    std::map<std::pair<std::string, std::string>, double> mean;
    for (const auto& [kind, count] : counts.begin()->second) {
      double sum = 0;
      bool everywhere = true;
      for (const auto& [stage, of_stage] : counts) {
        const auto found = of_stage.find(kind);
        everywhere = everywhere && found != of_stage.end();
        if (found != of_stage.end()) sum += found->second;
      }
      if (everywhere) mean[kind] = sum / static_cast<double>(stages_.size());
    }
    std::map<std::int32_t, double> load;
    for (const auto& [stage, of_stage] : counts) {
      std::vector<double> ratios;
      for (const auto& [kind, usual] : mean) ratios.push_back(of_stage.at(kind) / usual);
      if (ratios.empty()) return;
      std::nth_element(ratios.begin(),
                       ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2),
                       ratios.end());
      load[stage] = ratios[ratios.size() / 2];
    }
    const auto heaviest = std::max_element(
        load.begin(), load.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    // Less is another mixture of operators.
    if (heaviest->second < job_.rules.stage_ratio) return;
    Cause cause = NewCause(job_, "pp.stage_imbalance", "s" + std::to_string(heaviest->first));
    cause.finding.metrics.push_back({"imbalance", heaviest->second, "ratio"});
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      if (job_.stage[rank] == heaviest->first) cause.finding.ranks.push_back(job_.ranks[rank].rank);
      Balance(rank, mean, load[job_.stage[rank]], cause.what_if.expect);
    }
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const std::int32_t stage = StageOf(job_.operations.all[i]);
      if (stage < 0) continue;
      for (const ReplayGraph::Edge edge : job_.graph.leaves[i]) {
        const auto post = static_cast<double>(job_.graph.graph.Weight(edge));
        cause.what_if.expect.waits.push_back(
            {edge, static_cast<TimeNs>(post * (1 - 1 / load[stage]))});
      }
    }
    causes_.push_back(std::move(cause));
  }

  // The stage whose layers an operation belongs to; -1: it is once a step, or joins stages.
  std::int32_t StageOf(const JobOperation& operation) const {
    if (IsPairKind(operation.kind) || operation.group == "dp" || operation.joint.members.empty())
      return -1;
    const std::int32_t stage = job_.stage[operation.joint.members[0].rank];
    for (const auto& member : operation.joint.members) {
      if (job_.stage[member.rank] != stage) return -1;
    }
    return stage;
  }

  // Light stages get what heavy ones lose.
  void Balance(std::size_t rank, const std::map<std::pair<std::string, std::string>, double>& mean,
               double load, Removal& removal) const {
    const RankDiagnosis& part = job_.Part(rank);
    for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
      const GraphNode& node = part.graph.nodes[i];
      if (node.kind != NodeKind::kKernel || node.step < 0) continue;
      const KernelKind& kind = part.kinds[static_cast<std::size_t>(node.row)];
      if (!mean.contains({part.names[kind.type], part.names[kind.shapes]})) continue;
      removal.durations.push_back(
          {job_.graph.first_node[rank] + i,
           static_cast<TimeNs>(static_cast<double>(node.dur) * (1 - 1 / load))});
    }
  }

  const Job& job_;
  std::vector<Cause>& causes_;
  std::set<std::int32_t> stages_;
};

}  // namespace

void FindPipelineCauses(const Job& job, std::vector<Cause>& causes) {
  PipelineCauses(job, causes).Find();
}

}  // namespace mpa
