// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "mpa/diagnosis/job/operations.h"

namespace mpa {
namespace {

// Recorded times may contradict the graph by so much: clocks of host and device, and of ranks.
constexpr TimeNs kClockTolerance = 30'000;

void ReserveGraph(const std::vector<const RankGraph*>& ranks,
                  const std::vector<JointOperation>& operations, ReplayGraph& graph) {
  // An operation is a node, two moments at most and a wait for each of them; see BuildJobGraph().
  std::size_t nodes = 3 * operations.size(), edges = 4 * operations.size();
  for (const RankGraph* rank : ranks) {
    nodes += rank->nodes.size();
    edges += rank->edges.size();
  }
  for (const JointOperation& operation : operations) edges += 2 * operation.members.size();
  graph.Reserve(nodes, edges);
}

}  // namespace

JobGraph BuildJobGraph(const std::vector<const RankGraph*>& ranks,
                       const std::vector<ClockLine>& clock,
                       const std::vector<JointOperation>& operations, std::size_t first_step) {
  JobGraph job;
  ReplayGraph& graph = job.graph;
  ReserveGraph(ranks, operations, graph);
  std::size_t steps = 1;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    job.first_node.push_back(static_cast<std::uint32_t>(graph.Nodes()));
    for (const GraphNode& node : ranks[r]->nodes) graph.Add(clock[r].Convert(node.start), node.dur);
    steps = std::max(steps, ranks[r]->last.size());
  }
  job.steps.last.resize(steps);
  job.steps.first = first_step;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::uint32_t first = job.first_node[r];
    job.first_edge.push_back(static_cast<std::uint32_t>(graph.Edges()));
    for (const GraphEdge& edge : ranks[r]->edges) {
      graph.Wait(first + edge.node, first + edge.on, edge.from, edge.weight);
    }
    for (std::size_t step = 0; step < ranks[r]->last.size(); ++step) {
      for (const std::uint32_t node : ranks[r]->last[step])
        job.steps.last[step].push_back(first + node);
    }
    for (const std::uint32_t node : ranks[r]->opening) job.steps.opening.push_back(first + node);
  }
  for (const ReplayGraph::Node node : job.steps.opening)
    job.steps.opened = std::min(job.steps.opened, graph.Start(node));
  std::map<std::size_t, ReplayGraph::Node> last_joint;  // by lane
  for (const JointOperation& operation : operations) {
    TimeNs arrival = operation.last;
    const auto node_of = [&](const JointOperation::Member& member,
                             std::uint32_t RankCollective::*node) {
      return job.first_node[member.rank] + ranks[member.rank]->collectives[member.collective].*node;
    };
    for (const auto& member : operation.members) {
      arrival = std::max(arrival, graph.Start(node_of(member, &RankCollective::arrive)));
    }
    const ReplayGraph::Node joint = graph.Add(arrival, 0);
    job.joints.push_back(joint);
    job.leaves.emplace_back();
    // Who was not captured is as far behind the operation before as it was.
    const auto before = last_joint.find(operation.lane);
    const auto wait_for_moment = [&](TimeNs time) {
      const ReplayGraph::Node moment = graph.Add(time, 0);
      if (before != last_joint.end()) {
        graph.Wait(moment, before->second, WaitsFor::kStart, time - graph.Start(before->second));
      }
      return graph.Wait(joint, moment, WaitsFor::kStart, 0);
    };
    if (!operation.late.empty())
      job.before_late.push_back(wait_for_moment(operation.late.back().before));
    std::vector<ReplayGraph::Edge>& late = job.late.emplace_back();
    for (const LateMembers& members : operation.late) late.push_back(wait_for_moment(members.time));
    last_joint[operation.lane] = joint;
    for (const auto& member : operation.members) {
      const auto leave = node_of(member, &RankCollective::leave);
      graph.Wait(joint, node_of(member, &RankCollective::arrive), WaitsFor::kStart, 0);
      job.leaves.back().push_back(
          graph.Wait(leave, joint, WaitsFor::kStart, graph.Start(leave) - arrival));
    }
  }
  graph.Finish(kClockTolerance);
  return job;
}

}  // namespace mpa
