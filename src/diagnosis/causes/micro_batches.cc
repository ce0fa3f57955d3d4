// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/causes/micro_batches.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/measure/intervals.h"

namespace mpa {
namespace {

constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max();

// Work of one kind in a step, in the order of time.
struct RepeatedWork {
  std::vector<std::uint32_t> places;
  TimeNs first = kNever;
  void Add(std::uint32_t place, TimeNs start) {
    places.push_back(place);
    first = std::min(first, start);
  }
};

// A rank receives something in every micro-batch, so what begins only behind the last one is done
// once a step.
bool IsRepeated(const RepeatedWork& work, std::int64_t micro_batches, TimeNs last_receive) {
  const auto count = static_cast<std::int64_t>(work.places.size());
  return count % micro_batches == 0 && (micro_batches == 1 || work.first <= last_receive);
}

std::vector<TimeNs> LessOfNodes(const ReplayGraph& graph,
                                std::span<const Removal* const> removals) {
  std::vector<TimeNs> less(graph.Nodes(), 0);
  for (const Removal* removal : removals) {
    for (const auto& node : removal->durations) less[node.node] += node.less;
  }
  return less;
}

}  // namespace

MicroBatches::MicroBatches(const Job& job, const PipelineShape& shape)
    : job_(job), shape_(shape), least_operation_(kNever) {
  for (RankIndex rank; rank < job.ranks.size(); ++rank) repeated_.push_back(RepeatedBy(rank));
  for (std::size_t i = 0; i < job.operations.all.size(); ++i) {
    const JobOperation& operation = job.operations.all[i];
    unseen_.push_back(0);
    if (IsPairKind(operation.kind) && operation.joint.members.size() == 1) {
      const JointOperation::Member& member = operation.joint.members[0];
      const OperationPart& part = job.Part(member.rank).operations[member.collective];
      const TimeNs after = part.moved + part.held_up + part.idle;
      if (after > 0) unseen_.back() = std::max<TimeNs>(0, part.dur - after);
    } else {
      least_operation_ = std::min(least_operation_, PostOf(job, i));
    }
  }
}

MicroBatches::Repeated MicroBatches::RepeatedBy(RankIndex rank) const {
  const RankDiagnosis& part = job_.Part(rank);
  Repeated found{std::vector<bool>(part.graph.nodes.size(), false),
                 std::vector<bool>(part.operations.size(), false), kNever};
  std::map<std::int32_t, TimeNs> last_receive;  // by step
  std::map<std::tuple<std::int32_t, NameId, NameId, std::int64_t>, RepeatedWork> operations;
  for (std::uint32_t i = 0; i < part.operations.size(); ++i) {
    const OperationPart& row = part.operations[i];
    const std::string& kind = part.names[row.kind];
    if (row.step < 0) continue;
    if (IsPairKind(kind)) {
      found.operations[i] = true;
      if (kind != "send") last_receive[row.step] = std::max(last_receive[row.step], row.start);
    } else if (job_.operations.all[job_.operations.of_rank[rank][i]].group != "dp") {
      operations[{row.step, row.group, row.kind, row.bytes}].Add(i, row.start);
    }
  }
  std::map<std::pair<std::int32_t, std::int32_t>, RepeatedWork> kernels;  // by step and kind
  for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
    const GraphNode& node = part.graph.nodes[i];
    if (node.kind != NodeKind::kKernel || node.step < 0) continue;
    found.least_kernel = std::min(found.least_kernel, node.dur);
    if (!node.in_optimizer) kernels[{node.step, node.row}].Add(i, node.start);
  }
  for (const auto& [key, work] : operations) {
    if (!IsRepeated(work, shape_.micro_batches, last_receive[std::get<0>(key)])) continue;
    for (const std::uint32_t place : work.places) found.operations[place] = true;
  }
  for (const auto& [key, work] : kernels) {
    if (!IsRepeated(work, shape_.micro_batches, last_receive[key.first])) continue;
    for (const std::uint32_t place : work.places) found.nodes[place] = true;
  }
  return found;
}

TimeNs MicroBatches::DoubledStep(std::span<const Removal* const> made) const {
  Removal half = Halved(made);
  std::vector<const Removal*> removals(made.begin(), made.end());
  removals.push_back(&half);
  Load load = BusiestStage(removals);
  TimeNs unseen = 0;
  if (!shape_.complete) {
    const Load before = BusiestStage(made);
    if (before.busy <= 0) return StepTime(job_.graph.graph, job_.graph.steps, made);
    const double left = Share(load.busy, before.busy);
    ShortenWaits(1 - left, half);
    // Even stages wait no longer than it takes to fill and drain the pipeline; the rest is a busier
    // stage.
    const double fill = Share(shape_.stages - 1, shape_.micro_batches);
    unseen = ShareOf(std::max<TimeNs>(0, before.waits - ShareOf(before.busy, fill)), left);
  }
  return StepTime(job_.graph.graph, job_.graph.steps, removals) + load.busy + unseen;
}

void MicroBatches::ShortenWaits(double share, Removal& removal) const {
  for (std::size_t i = 0; i < unseen_.size(); ++i) {
    if (unseen_[i] > 0 && share > 0) ShortenOperation(job_, i, ShareOf(unseen_[i], share), removal);
  }
}

// Half of what is left of the work that has the size of a micro-batch.
Removal MicroBatches::Halved(std::span<const Removal* const> made) const {
  const ReplayGraph& graph = job_.graph.graph;
  std::vector<TimeNs> less = LessOfNodes(graph, made), less_of_edge(graph.Edges(), 0);
  for (const Removal* removal : made) {
    for (const auto& edge : removal->waits) less_of_edge[edge.edge] += edge.less;
  }
  Removal half;
  std::set<std::size_t> operations;
  for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
    const Repeated& repeated = repeated_[rank];
    const auto& nodes = job_.Part(rank).graph.nodes;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (!repeated.nodes[i] || nodes[i].adds_gradients) continue;
      const std::uint32_t node = job_.graph.first_node[rank] + i;
      const TimeNs left = nodes[i].dur - less[node];
      if (left > repeated.least_kernel)
        half.durations.push_back({node, (left - repeated.least_kernel) / 2});
    }
    for (std::size_t i = 0; i < repeated.operations.size(); ++i) {
      if (repeated.operations[i]) operations.insert(job_.operations.of_rank[rank][i]);
    }
  }
  for (const std::size_t i : operations) {
    TimeNs moved = 0;
    for (const auto& member : job_.operations.all[i].joint.members) {
      moved = std::max(moved, job_.Part(member.rank).operations[member.collective].moved);
    }
    for (const ReplayGraph::Edge edge : job_.graph.categories[i]) {
      const TimeNs left = graph.Weight(edge) - less_of_edge[edge] - unseen_[i];
      // Where tasks are not recorded, the shortest operation tells what all of them take at least.
      const TimeNs transfer = moved > 0 ? std::min(moved, left) : left - least_operation_;
      if (transfer > 0) half.waits.push_back({edge, transfer / 2});
    }
  }
  return half;
}

// Of a stage the median of its ranks.
MicroBatches::Load MicroBatches::BusiestStage(std::span<const Removal* const> removals) const {
  const std::vector<TimeNs> start = job_.graph.graph.Replay(removals);
  const std::vector<TimeNs> less = LessOfNodes(job_.graph.graph, removals);
  std::map<std::int32_t, std::vector<Load>> by_stage;
  for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
    Load sum;
    for (std::size_t step = job_.first_step; step < job_.steps; ++step) {
      const Load load = LoadOf(rank, step, start, less);
      sum.busy += load.busy;
      sum.waits += load.waits;
    }
    by_stage[job_.stage[rank]].push_back({PerStep(job_, sum.busy), PerStep(job_, sum.waits)});
  }
  Load busiest;
  for (auto& [stage, loads] : by_stage) {
    const auto middle = loads.begin() + static_cast<std::ptrdiff_t>(loads.size() / 2);
    std::nth_element(loads.begin(), middle, loads.end(),
                     [](const Load& a, const Load& b) { return a.busy < b.busy; });
    if (middle->busy > busiest.busy) busiest = *middle;
  }
  return busiest;
}

// From the first work of a micro-batch to the last one, without the waits for other stages. The
// host needs as long as it takes to launch it all, unless it waits for the device meanwhile.
MicroBatches::Load MicroBatches::LoadOf(RankIndex rank, std::size_t step,
                                        const std::vector<TimeNs>& start,
                                        const std::vector<TimeNs>& less) const {
  const RankDiagnosis& part = job_.Part(rank);
  const Repeated& repeated = repeated_[rank];
  const std::uint32_t first_node = job_.graph.first_node[rank];
  const auto is_of_step = [&](std::int32_t of) {
    return of >= 0 && static_cast<std::size_t>(of) == step;
  };
  Interval phase{kNever, 0}, launched{kNever, 0};
  std::vector<Interval> work, waits, moving;
  for (const GraphEdge& edge : part.graph.edges) {
    const bool is_launch = part.graph.nodes[edge.on].kind == NodeKind::kLaunch;
    if (!is_launch || !repeated.nodes[edge.node] || !is_of_step(part.graph.nodes[edge.node].step))
      continue;
    const TimeNs time = start[first_node + edge.on];
    launched = {std::min(launched.begin, time), std::max(launched.end, time)};
  }
  for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
    if (!repeated.nodes[i] || !is_of_step(part.graph.nodes[i].step)) continue;
    const TimeNs begin = start[first_node + i];
    work.push_back(
        {begin, begin + std::max<TimeNs>(0, part.graph.nodes[i].dur - less[first_node + i])});
    phase = {std::min(phase.begin, work.back().begin), std::max(phase.end, work.back().end)};
  }
  for (std::uint32_t i = 0; i < part.operations.size(); ++i) {
    if (!repeated.operations[i] || !is_of_step(part.operations[i].step)) continue;
    const RankCollective& row = part.graph.collectives[i];
    const TimeNs arrive = start[first_node + row.arrive];
    const std::size_t operation = job_.operations.of_rank[rank][i];
    // Waits for stages that were not captured are part of the way from the joint to the end.
    const TimeNs met = start[job_.graph.joints[operation]] + unseen_[operation];
    if (!IsPairKind(part.names[part.operations[i].kind])) {
      phase = {std::min(phase.begin, arrive), std::max(phase.end, start[first_node + row.leave])};
      continue;
    }
    // What arrives keeps the stage busy, whatever else waits meanwhile: that of the first
    // micro-batch, too.
    if (arrive < met) waits.push_back({arrive, met});
    if (met < start[first_node + row.leave] && part.names[part.operations[i].kind] != "send") {
      moving.push_back({met, start[first_node + row.leave]});
      phase.begin = std::min(phase.begin, met);
    }
  }
  if (phase.begin >= phase.end) return {};
  const Intervals waited =
      Difference(Union(std::move(waits)), Union(Union(std::move(work)), Union(std::move(moving))));
  const TimeNs busy = phase.end - phase.begin - LengthWithin(waited, phase);
  const bool blocks = std::ranges::any_of(part.blocked, [&](const BlockedPart& call) {
    const TimeNs time = start[first_node + part.graph.edges[call.edge].node];
    return time > launched.begin && time < launched.end;
  });
  return {blocks ? busy : std::max(busy, launched.end - launched.begin), Length(waited)};
}

PipelineShape ShapeOfPipeline(const Job& job) {
  PipelineShape shape;
  std::set<std::int32_t> captured;
  for (RankIndex rank; rank < job.ranks.size(); ++rank) {
    const RankDiagnosis& part = job.Part(rank);
    if (const JobGroup* pipeline = part.Pipeline(); pipeline != nullptr)
      shape.stages = std::max(shape.stages, static_cast<std::int64_t>(pipeline->ranks.size()));
    captured.insert(job.stage[rank]);
  }
  shape.complete = static_cast<std::int64_t>(captured.size()) >= shape.stages;
  if (shape.stages < 2) return shape;
  // Every micro-batch goes on to the next stage once, and comes back to the one before once.
  for (RankIndex rank; rank < job.ranks.size() && shape.micro_batches == 0; ++rank) {
    const RankDiagnosis& part = job.Part(rank);
    const bool is_end = job.stage[rank] == 0 || job.stage[rank] + 1 == shape.stages;
    const std::int64_t neighbours = is_end ? 1 : 2;
    const std::int64_t sends = std::ranges::count_if(
        part.operations,
        [&](const OperationPart& operation) { return part.names[operation.kind] == "send"; });
    shape.micro_batches =
        sends / (neighbours * static_cast<std::int64_t>(std::max<std::size_t>(1, job.steps)));
  }
  return shape;
}

}  // namespace mpa
