// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/job/job.h"

#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/quantiles.h"
#include "mpa/mfu/chip_peak.h"

namespace mpa {
namespace {

// Kernels of equal shapes take equally long in every stage of a pipeline. So a node can be slow
// although it has all ranks of a stage: by role and type of kernels, how many times as long as
// those of the other roles they take. Counted steps only.
class RolePace {
 public:
  explicit RolePace(const Job& job);

  /// Of the ranks of a role; 1 where too few of their kernels have their like in another role.
  double Of(const std::vector<std::size_t>& ranks, const std::string& type) const;

 private:
  using Kind =
      std::tuple<std::size_t, std::string, std::string>;  // connected_component, type, shapes

  void Sum(RankIndex rank);
  double OfRank(RankIndex rank, const std::string& type) const;

  const Job& job_;
  std::vector<std::map<std::string, std::map<Kind, KernelSum>>> sums_;  // by rank and type
  std::map<Kind, std::vector<TimeNs>> means_;                           // of the ranks
  std::map<Kind, std::set<std::int32_t>> roles_;
  std::map<Kind, TimeNs> normal_;  // of kinds that several roles have
};

RolePace::RolePace(const Job& job) : job_(job) {
  for (RankIndex rank; rank < job.ranks.size(); ++rank) Sum(rank);
  for (const auto& [kind, means] : means_) {
    if (roles_.at(kind).size() > 1) normal_[kind] = LowerQuartile(means);
  }
}

double RolePace::Of(const std::vector<std::size_t>& ranks, const std::string& type) const {
  std::vector<double> paces;
  for (const RankIndex rank : ranks) paces.push_back(OfRank(rank, type));
  return ValueAtPosition(paces, PercentileIndexAbove(paces.size(), 25));
}

void RolePace::Sum(RankIndex rank) {
  const RankDiagnosis& part = job_.Part(rank);
  auto& sums = sums_.emplace_back();
  for (const GraphNode& node : part.graph.nodes) {
    if (node.kind != NodeKind::kKernel || node.step < static_cast<std::int32_t>(job_.first_step))
      continue;
    const KernelKind& kind = part.KindOf(node);
    if (kind.bytes <= 0) continue;  // without shapes nothing says that two are equal
    KernelSum& sum = sums[part.names[kind.type]][Kind{
        job_.operations.connected_component[rank], part.names[kind.type], part.names[kind.shapes]}];
    ++sum.count;
    sum.time += node.dur;
  }
  for (const auto& [type, kinds] : sums) {
    for (const auto& [kind, sum] : kinds) {
      means_[kind].push_back(sum.time / sum.count);
      roles_[kind].insert(job_.role[rank]);
    }
  }
}

double RolePace::OfRank(RankIndex rank, const std::string& type) const {
  const auto found = sums_[rank].find(type);
  if (found == sums_[rank].end()) return 1;
  TimeNs all = 0, own = 0, normal = 0;
  for (const auto& [kind, sum] : found->second) {
    all += sum.time;
    const auto usual = normal_.find(kind);
    if (usual == normal_.end()) continue;
    own += sum.time;
    normal += usual->second * sum.count;
  }
  return normal > 0 && 2 * own > all ? Share(own, normal) : 1;
}

std::vector<TimeNs> StepLengths(const JobGraph& graph) {
  std::vector<TimeNs> lengths;
  TimeNs begin = graph.steps.begin;
  for (const auto& nodes : graph.steps.last) {
    TimeNs end = begin;
    for (const ReplayGraph::Node node : nodes) {
      end = std::max(end, graph.graph.Start(node) + graph.graph.Duration(node));
    }
    lengths.push_back(end - begin);
    begin = end;
  }
  return lengths;
}

std::vector<std::int32_t> StagesOf(const std::vector<DiagnosedRank>& ranks) {
  std::vector<std::int32_t> stages(ranks.size(), 0);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const JobGroup* pipeline = ranks[i].part->Pipeline();
    if (pipeline == nullptr) continue;
    const auto place = std::ranges::find(pipeline->ranks, ranks[i].rank);
    if (place != pipeline->ranks.end())
      stages[i] = static_cast<std::int32_t>(place - pipeline->ranks.begin());
  }
  return stages;
}

// Of a rank's kinds of kernels those that no other rank of its role has.
std::vector<std::vector<bool>> KindsOfUnmatchedShapes(const Job& job) {
  using Shapes = std::pair<std::string, std::string>;
  const auto shapes_of = [&](RankIndex rank, const KernelKind& kind) {
    const RankDiagnosis& part = job.Part(rank);
    return Shapes{part.names[kind.type], part.names[kind.shapes]};
  };
  std::map<std::int32_t, std::map<Shapes, std::set<std::size_t>>> ranks_with;  // by role
  for (RankIndex rank; rank < job.ranks.size(); ++rank) {
    for (const KernelKind& kind : job.Part(rank).kinds)
      ranks_with[job.role[rank]][shapes_of(rank, kind)].insert(rank);
  }
  std::vector<std::vector<bool>> unmatched(job.ranks.size());
  for (RankIndex rank; rank < job.ranks.size(); ++rank) {
    for (const KernelKind& kind : job.Part(rank).kinds) {
      unmatched[rank].push_back(ranks_with[job.role[rank]][shapes_of(rank, kind)].size() == 1);
    }
  }
  return unmatched;
}

void FindUsualKernels(Job& job) {
  for (const auto& [role, ranks] : job.ranks_of_role) {
    auto& steps = job.usual_kernels[role];
    for (std::size_t step = 0; step < job.steps; ++step) {
      std::map<std::string, std::vector<TimeNs>> times;
      for (const RankIndex rank : ranks) {
        for (const auto& [type, sum] : job.work[rank][step].kernels)
          times[type].push_back(sum.time);
      }
      auto& usual = steps.emplace_back();
      for (auto& [type, of_ranks] : times) {
        const std::size_t count = of_ranks.size();
        of_ranks.resize(ranks.size(), 0);
        usual[type] = {LowerQuartile(std::move(of_ranks)), count};
      }
    }
  }
}

void FindSlowRoles(Job& job) {
  if (job.ranks_of_role.size() < 2) return;
  const RolePace pace(job);
  for (auto& [role, steps] : job.usual_kernels) {
    std::map<std::string, double> of_type;
    for (auto& step : steps) {
      for (auto& [type, usual] : step) {
        const auto [found, is_new] = of_type.try_emplace(type, 1);
        if (is_new) found->second = pace.Of(job.ranks_of_role.at(role), type);
        if (found->second < 1 + job.thresholds[kLateOfPeers]) continue;
        usual.time = static_cast<TimeNs>(static_cast<double>(usual.time) / found->second);
        job.slow_roles.insert(role);
      }
    }
  }
}

void SumWork(Job& job) {
  job.work.assign(job.ranks.size(), std::vector<StepWork>(job.steps));
  const std::vector<std::vector<bool>> unmatched = KindsOfUnmatchedShapes(job);
  for (RankIndex rank; rank < job.ranks.size(); ++rank) {
    const RankDiagnosis& part = job.Part(rank);
    auto& steps = job.work[rank];
    for (const GraphNode& node : part.graph.nodes) {
      if (node.step < 0 || static_cast<std::size_t>(node.step) >= steps.size()) continue;
      StepWork& work = steps[static_cast<std::size_t>(node.step)];
      if (node.category == TimeCategory::kCopyIn) work.copied_in += node.dur;
      if (node.kind != NodeKind::kKernel) continue;
      const auto kind = static_cast<std::size_t>(node.row);
      KernelSum& sum = work.kernels[part.names[part.kinds[kind].type]];
      sum.time += node.dur;
      sum.unmatched_shape_ns += unmatched[rank][kind] ? node.dur : 0;
      ++sum.count;
      work.compute += node.dur;
    }
    for (const HostShare& share : part.shares) {
      const std::int32_t step = job.StepOfEdge(rank, share.edge);
      if (step >= 0)
        steps[static_cast<std::size_t>(step)].host[static_cast<std::size_t>(share.category)] +=
            share.time;
    }
    for (const BlockedPart& blocked : part.blocked) {
      if (blocked.step < 0 || static_cast<std::size_t>(blocked.step) >= steps.size()) continue;
      ++steps[static_cast<std::size_t>(blocked.step)]
            .blocks[static_cast<std::size_t>(blocked.category)];
    }
  }
}

bool FirstIsWarmUp(const Job& job) {
  const std::vector<TimeNs> lengths = StepLengths(job.graph);
  std::vector<TimeNs> compiling(lengths.size(), 0);  // of all ranks
  for (const auto& steps : job.work) {
    for (std::size_t step = 0; step < compiling.size(); ++step)
      compiling[step] +=
          steps[step].HostOf({TimeCategory::kCompile, TimeCategory::kAclOp}, {}).time;
  }
  // A step of a server is compared with those that do the same.
  const std::vector<StepPart>& parts = job.Part(0).steps;
  std::vector<TimeNs> alike, alike_compiling;
  for (std::size_t step = 0; step < lengths.size(); ++step) {
    if (step < parts.size() && !AreAlike(parts[step].batch, parts[0].batch)) continue;
    alike.push_back(lengths[step]);
    alike_compiling.push_back(compiling[step]);
  }
  return FirstStepIsWarmUp(alike, alike_compiling, job.work.size(),
                           {job.thresholds[kWarmUpRatio], job.thresholds[kWarmUpCompiling],
                            job.thresholds[kWarmUpRest]});
}

JobGraph GraphOf(const Job& job) {
  std::vector<const RankGraph*> graphs;
  for (const DiagnosedRank& rank : job.ranks) graphs.push_back(&rank.part->graph);
  std::vector<JointOperation> operations;
  for (const JobOperation& operation : job.operations.all) operations.push_back(operation.joint);
  JobGraph graph = BuildJobGraph(graphs, job.operations.clock, operations, 0);
  // The job begins with the first window of its ranks.
  std::optional<TimeNs> begin;
  for (RankIndex rank; rank < job.ranks.size(); ++rank) {
    if (job.Part(rank).steps.empty()) continue;
    const TimeNs of_rank = job.operations.clock[rank].Convert(job.Part(rank).steps.front().begin);
    begin = std::min(begin.value_or(of_rank), of_rank);
  }
  graph.steps.begin = begin.value_or(0);
  return graph;
}

}  // namespace

HostAmount StepWork::HostOf(const std::vector<TimeCategory>& categories,
                            const std::vector<TimeCategory>& waiting) const {
  HostAmount amount;
  for (const TimeCategory category : categories)
    amount.time += host[static_cast<std::size_t>(category)];
  for (const TimeCategory category : waiting)
    amount.blocks += blocks[static_cast<std::size_t>(category)];
  amount.copies = copied_in;
  return amount;
}

bool Job::Serves() const {
  return std::ranges::any_of(ranks, [](const DiagnosedRank& rank) { return rank.part->Serves(); });
}

bool Job::HaveOneLoad(const std::vector<std::size_t>& members, std::size_t step) const {
  const auto batch = [&](RankIndex rank) {
    const std::vector<StepPart>& of_rank = Part(rank).steps;
    return step < of_rank.size() ? of_rank[step].batch : ServingBatch();
  };
  return std::ranges::all_of(
      members, [&](RankIndex rank) { return AreComparable(batch(rank), batch(members.front())); });
}

std::vector<HostAmount> Job::UsualHost(const std::vector<std::size_t>& members,
                                       const std::vector<TimeCategory>& categories,
                                       const std::vector<TimeCategory>& waiting) const {
  std::vector<HostAmount> usual;
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<TimeNs> times, blocks, copies;
    for (const RankIndex rank : members) {
      const HostAmount amount = work[rank][step].HostOf(categories, waiting);
      times.push_back(amount.time);
      blocks.push_back(amount.blocks);
      copies.push_back(amount.copies);
    }
    usual.push_back({LowerQuartile(std::move(times)), LowerQuartile(std::move(blocks)),
                     LowerQuartile(std::move(copies))});
  }
  return usual;
}

std::map<std::int32_t, std::vector<HostAmount>> Job::UsualHost(
    const std::vector<TimeCategory>& categories, const std::vector<TimeCategory>& waiting) const {
  std::map<std::int32_t, std::vector<HostAmount>> usual;
  for (const auto& [of_role, members] : ranks_of_role)
    usual[of_role] = UsualHost(members, categories, waiting);
  return usual;
}

std::vector<std::int32_t> Job::CountedIds() const {
  std::vector<std::int32_t> ids;
  for (std::size_t step = first_step; step < Part(0).steps.size(); ++step) {
    if (Part(0).steps[step].id >= 0) ids.push_back(Part(0).steps[step].id);
  }
  return ids;
}

std::vector<std::int32_t> Job::IdsOf(const std::set<std::size_t>& positions) const {
  std::vector<std::int32_t> ids;
  for (const std::size_t step : positions) {
    if (step < Part(0).steps.size() && Part(0).steps[step].id >= 0)
      ids.push_back(Part(0).steps[step].id);
  }
  return ids;
}

std::int32_t Job::StepOfEdge(RankIndex rank, std::uint32_t edge) const {
  const RankGraph& graph_of = Part(rank).graph;
  const std::int32_t step = graph_of.nodes[graph_of.edges[edge].node].step;
  return static_cast<std::size_t>(step) < steps ? step : -1;
}

std::vector<std::int32_t> RolesOf(const std::vector<DiagnosedRank>& ranks,
                                  const JobOperations& operations) {
  const std::vector<std::int32_t> stages = StagesOf(ranks);
  std::vector<std::int32_t> roles;
  std::map<std::pair<std::size_t, std::int32_t>, std::int32_t> numbers;
  for (RankIndex rank; rank < ranks.size(); ++rank) {
    roles.push_back(numbers
                        .try_emplace({operations.connected_component[rank], stages[rank]},
                                     static_cast<std::int32_t>(numbers.size()))
                        .first->second);
  }
  return roles;
}

TimeNs LowerQuartile(std::vector<TimeNs> values) {
  if (values.empty()) return 0;
  return ValueAtPosition(values, PercentileIndexAbove(values.size(), 25));
}

namespace {

// What no file gives is taken from the entry of the chip, if all ranks have the same.
Thresholds WithLimitsOfChip(Thresholds thresholds, const std::vector<DiagnosedRank>& ranks) {
  const ChipLimits limits = ranks.empty() ? ChipLimits() : LimitsOf(ranks.front().part->chip);
  if (!std::ranges::all_of(
          ranks, [&](const DiagnosedRank& rank) { return LimitsOf(rank.part->chip) == limits; }))
    return thresholds;
  const auto fill = [&](const Threshold& rule, double limit) {
    if (thresholds[rule] == 0) thresholds.Set(rule, limit);
  };
  fill(kCardGbs, limits.card_gbs);
  fill(kPortGbs, limits.port_gbs);
  fill(kMemoryGbs, limits.memory_gbs);
  fill(kCacheBytes, limits.cache_bytes);
  fill(kMemoryBytes, limits.memory_bytes);
  return thresholds;
}

}  // namespace

Job MakeJob(std::vector<DiagnosedRank> ranks, const Thresholds& thresholds) {
  JobOperations operations = JoinOperations(ranks, thresholds);
  return MakeJob(std::move(ranks), std::move(operations), thresholds);
}

Job MakeJob(std::vector<DiagnosedRank> ranks, JobOperations operations,
            const Thresholds& thresholds) {
  Job job;
  job.thresholds = WithLimitsOfChip(thresholds, ranks);
  job.ranks = std::move(ranks);
  job.operations = std::move(operations);
  job.stage = StagesOf(job.ranks);
  job.role = RolesOf(job.ranks, job.operations);
  for (RankIndex rank; rank < job.ranks.size(); ++rank)
    job.ranks_of_role[job.role[rank]].push_back(rank);
  job.graph = GraphOf(job);
  job.steps = job.graph.steps.last.size();
  for (const auto& [role, members] : job.ranks_of_role) {
    for (std::size_t step = 0; step < job.steps; ++step)
      job.one_load[role].push_back(job.HaveOneLoad(members, step));
  }
  SumWork(job);
  job.first_step = FirstIsWarmUp(job) ? 1 : 0;
  job.graph.steps.first = job.first_step;
  job.step_time = RecordedStepTime(job.graph.graph, job.graph.steps);
  FindUsualKernels(job);
  FindSlowRoles(job);
  return job;
}

}  // namespace mpa
