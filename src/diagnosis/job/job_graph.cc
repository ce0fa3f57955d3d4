// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/job/issuing.h"
#include "mpa/diagnosis/job/operations.h"
#include "mpa/diagnosis/part/graph_draft.h"
#include "mpa/measure/quantiles.h"

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
  std::map<std::size_t, ReplayGraph::Node> last_joint;  // by series
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
    job.categories.emplace_back();
    // An uncaptured member comes as long after the previous operation as it did in the run.
    const auto before = last_joint.find(operation.series);
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
    last_joint[operation.series] = joint;
    for (const auto& member : operation.members) {
      const auto leave = node_of(member, &RankCollective::leave);
      graph.Wait(joint, node_of(member, &RankCollective::arrive), WaitsFor::kStart, 0);
      job.categories.back().push_back(
          graph.Wait(leave, joint, WaitsFor::kStart, graph.Start(leave) - arrival));
    }
  }
  graph.Finish(kClockTolerance);
  return job;
}

namespace {

bool IsOfDevice(NodeKind kind) {
  return kind == NodeKind::kKernel || kind == NodeKind::kCopy || kind == NodeKind::kArrive;
}

bool CountsAsIssuing(TimeCategory category) {
  return category == TimeCategory::kDispatchOp || category == TimeCategory::kDispatchCann ||
         category == TimeCategory::kDispatchComm || category == TimeCategory::kPython;
}

// For which work of the device the moments of the host stand.
class IssuingFinder {
 public:
  explicit IssuingFinder(const RankGraph& graph)
      : graph_(graph),
        issued_(graph.nodes.size(), kNoNode),
        before_(issued_.size(), kNoNode),
        asked_(issued_.size(), kNoNode),
        direct_(issued_.size(), false) {}

  /// By node: what is issued by the work that leads to it; kNoNode for nothing.
  std::vector<std::uint32_t> Find(const std::vector<HostShare>& shares) && {
    FollowEdges();
    FindAsking();
    for (const HostShare& share : shares) OwnCall(share);
    for (const HostShare& share : shares) OwnPiece(graph_.edges[share.edge]);
    return std::move(issued_);
  }

 private:
  const GraphNode& Node(std::uint32_t node) const { return graph_.nodes[node]; }
  bool IsOnQueue(std::uint32_t node) const {
    return Node(node).kind == NodeKind::kQueue || before_[node] != kNoNode;
  }

  void FollowEdges() {
    for (const GraphEdge& edge : graph_.edges) {
      const NodeKind node = Node(edge.node).kind, on = Node(edge.on).kind;
      if (IsOfDevice(node) && on == NodeKind::kLaunch) launched_.emplace_back(edge.node, edge.on);
      if (node == NodeKind::kQueue && on == NodeKind::kHost) asked_[edge.node] = edge.on;
      // The edge to what its thread did before comes before the one to the queue that it waits for.
      if (node == NodeKind::kLaunch && (on == NodeKind::kHost || direct_[edge.on]))
        direct_[edge.node] = true;
      if ((node == NodeKind::kQueue || node == NodeKind::kLaunch) && !direct_[edge.node] &&
          IsOnQueue(edge.on))
        before_[edge.node] = edge.on;
    }
  }

  // When the host asked for the work, on the thread that called for it.
  void FindAsking() {
    for (const auto& [work, launch] : launched_) {
      std::uint32_t node = launch;
      while (Node(node).kind == NodeKind::kLaunch && before_[node] != kNoNode) node = before_[node];
      if (asked_[node] != kNoNode) node = asked_[node];
      if (issued_[node] == kNoNode) issued_[node] = work;
      if (Node(work).kind == NodeKind::kArrive) collectives_.emplace_back(Node(node).start, work);
    }
    std::ranges::sort(collectives_);
  }

  // The call for a collective begins with what makes the streams wait for each other.
  void OwnCall(const HostShare& share) {
    const std::uint32_t node = graph_.edges[share.edge].node;
    if (share.category != TimeCategory::kDispatchComm || IsOnQueue(node)) return;
    const auto next = std::lower_bound(collectives_.begin(), collectives_.end(),
                                       std::pair{Node(node).start, std::uint32_t{0}});
    if (next != collectives_.end() && Node(next->second).step == Node(node).step)
      issued_[node] = next->second;
  }

  void OwnPiece(const GraphEdge& edge) {
    if (!IsOnQueue(edge.node)) return;
    const std::uint32_t asked = asked_[edge.on];
    issued_[edge.node] = issued_[asked == kNoNode ? edge.on : asked];
  }

  const RankGraph& graph_;
  std::vector<std::uint32_t> issued_, before_,
      asked_;                 // by node; the node before it in the task queue,
                              // and who put the piece that begins there into it
  std::vector<bool> direct_;  // by node: a launch made by a thread that also fills the queue
  std::vector<std::pair<std::uint32_t, std::uint32_t>> launched_;
  std::vector<std::pair<TimeNs, std::uint32_t>> collectives_;  // by when they were asked for
};

// To issue an operator takes longer now and then; so many times the usual is a host that stood
// still.
constexpr TimeNs kStoodStill = 5;

// Which operator a piece of device work is of, by its kind of kernel; all collectives are one.
std::int64_t OperatorOf(const RankDiagnosis& part, std::uint32_t node) {
  const GraphNode& work = part.graph.nodes[node];
  const auto kind = static_cast<std::size_t>(work.row);
  if (work.kind != NodeKind::kKernel || work.row < 0 || kind >= part.kinds.size()) return -1;
  return part.kinds[kind].type;
}

// How long it takes to issue an operator, by the median of its like, or of all where they are few.
class UsualIssue {
 public:
  using Whole = std::map<std::uint32_t, TimeNs>;  // by node

  UsualIssue(const RankDiagnosis& part, const Whole& whole) : part_(part) {
    for (const auto& [node, time] : whole) {
      of_operator_[OperatorOf(part, node)].push_back(time);
      all_.push_back(time);
    }
    for (auto& [op, times] : of_operator_) std::ranges::sort(times);
    std::ranges::sort(all_);
  }
  TimeNs Of(std::uint32_t node) const {
    constexpr std::size_t kFew = 3;
    const std::vector<TimeNs>& times = of_operator_.at(OperatorOf(part_, node));
    const std::vector<TimeNs>& alike = times.size() < kFew ? all_ : times;
    // A handful of different ones has no usual time.
    return alike.size() < kFew ? alike.back() : Percentile(alike, 50);
  }

 private:
  const RankDiagnosis& part_;
  std::map<std::int64_t, std::vector<TimeNs>> of_operator_;
  std::vector<TimeNs> all_;
};

}  // namespace

IssuingWork::IssuingWork(const RankDiagnosis& part) {
  const std::vector<std::uint32_t> issued = IssuingFinder(part.graph).Find(part.shares);
  std::vector<std::pair<std::uint32_t, Removal::Edge>> found;
  UsualIssue::Whole whole;
  for (const HostShare& share : part.shares) {
    const std::uint32_t node = issued[part.graph.edges[share.edge].node];
    if (node == kNoNode || !CountsAsIssuing(share.category)) continue;
    found.push_back({node, {share.edge, share.time}});
    whole[node] += share.time;
  }
  StableSort(found, {}, [](const auto& row) { return row.first; });
  const UsualIssue usual(part, whole);
  for (const auto& [node, work] : found) {
    const TimeNs time = whole.at(node), most = usual.Of(node);
    issued_.push_back(node);
    const bool stood_still = time > kStoodStill * most;
    work_.push_back({work.edge, stood_still ? ShareOf(work.less, Share(most, time)) : work.less});
  }
}

std::span<const Removal::Edge> IssuingWork::Of(std::uint32_t node) const {
  const auto [first, last] = std::equal_range(issued_.begin(), issued_.end(), node);
  return {work_.data() + (first - issued_.begin()), static_cast<std::size_t>(last - first)};
}

}  // namespace mpa
