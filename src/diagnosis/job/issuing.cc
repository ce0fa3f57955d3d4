// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/job/issuing.h"

#include <algorithm>

#include "mpa/diagnosis/part/graph_draft.h"

namespace mpa {
namespace {

bool IsOfDevice(NodeKind kind) {
  return kind == NodeKind::kKernel || kind == NodeKind::kCopy || kind == NodeKind::kArrive;
}

bool CountsAsIssuing(Leaf leaf) {
  return leaf == Leaf::kDispatchOp || leaf == Leaf::kDispatchCann || leaf == Leaf::kDispatchComm ||
         leaf == Leaf::kPython;
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
    std::sort(collectives_.begin(), collectives_.end());
  }

  // The call for a collective begins with what makes the streams wait for each other.
  void OwnCall(const HostShare& share) {
    const std::uint32_t node = graph_.edges[share.edge].node;
    if (share.leaf != Leaf::kDispatchComm || IsOnQueue(node)) return;
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

}  // namespace

IssuingWork::IssuingWork(const RankDiagnosis& part) {
  const std::vector<std::uint32_t> issued = IssuingFinder(part.graph).Find(part.shares);
  std::vector<std::pair<std::uint32_t, Removal::Edge>> found;
  for (const HostShare& share : part.shares) {
    const std::uint32_t node = issued[part.graph.edges[share.edge].node];
    if (node != kNoNode && CountsAsIssuing(share.leaf))
      found.push_back({node, {share.edge, share.time}});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [node, work] : found) {
    issued_.push_back(node);
    work_.push_back(work);
  }
}

std::span<const Removal::Edge> IssuingWork::Of(std::uint32_t node) const {
  const auto [first, last] = std::equal_range(issued_.begin(), issued_.end(), node);
  return {work_.data() + (first - issued_.begin()), static_cast<std::size_t>(last - first)};
}

}  // namespace mpa
