// SPDX-License-Identifier: Apache-2.0
#include "issuing.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "graph_draft.h"

namespace mpa {
namespace {

constexpr auto kNoOperation = std::numeric_limits<std::uint32_t>::max();

// Who issues the collectives of a rank: the moments of its host, and pieces of its task queue.
class RankIssuing {
 public:
  explicit RankIssuing(const RankDiagnosis& part)
      : part_(part), owner_(part.graph.nodes.size(), kNoOperation), before_(owner_.size(), kNoNode), asked_(owner_.size(), kNoNode) {
    FollowEdges();
    FindAsking();
    OwnCalls();
    OwnPieces();
  }

  /// The collective that the host works for on this edge; kNoOperation for none.
  std::uint32_t OwnerOf(std::uint32_t edge) const { return owner_[part_.graph.edges[edge].node]; }

 private:
  const GraphNode& Node(std::uint32_t node) const { return part_.graph.nodes[node]; }

  bool IsOnQueue(std::uint32_t node) const { return Node(node).kind == NodeKind::kQueue || before_[node] != kNoNode; }

  void FollowEdges() {
    std::vector<std::uint32_t> collective(owner_.size(), kNoOperation);
    const auto& collectives = part_.graph.collectives;
    for (std::uint32_t i = 0; i < collectives.size(); ++i) collective[collectives[i].arrive] = i;
    launch_.assign(collectives.size(), kNoNode);
    for (const GraphEdge& edge : part_.graph.edges) {
      const NodeKind on = Node(edge.on).kind, node = Node(edge.node).kind;
      const bool on_queue = on == NodeKind::kQueue || (on == NodeKind::kLaunch && before_[edge.on] != kNoNode);
      if (collective[edge.node] != kNoOperation && on == NodeKind::kLaunch) launch_[collective[edge.node]] = edge.on;
      if (node == NodeKind::kQueue && on == NodeKind::kHost) asked_[edge.node] = edge.on;
      if ((node == NodeKind::kQueue || node == NodeKind::kLaunch) && on_queue) before_[edge.node] = edge.on;
    }
  }

  // When the host asked for each collective, on the thread that called for it.
  void FindAsking() {
    for (std::uint32_t i = 0; i < launch_.size(); ++i) {
      std::uint32_t node = launch_[i];
      if (node == kNoNode) continue;
      while (Node(node).kind == NodeKind::kLaunch && before_[node] != kNoNode) node = before_[node];
      if (asked_[node] != kNoNode) node = asked_[node];
      asking_.emplace_back(Node(node).start, i);
    }
    std::sort(asking_.begin(), asking_.end());
  }

  // The call begins with what makes the streams wait for each other.
  void OwnCalls() {
    for (const HostShare& share : part_.shares) {
      const std::uint32_t node = part_.graph.edges[share.edge].node;
      if (share.leaf != Leaf::kDispatchComm || IsOnQueue(node)) continue;
      const auto next = std::lower_bound(asking_.begin(), asking_.end(), std::pair{Node(node).start, std::uint32_t{0}});
      if (next != asking_.end()) owner_[node] = next->second;
    }
  }

  void OwnPieces() {
    for (const HostShare& share : part_.shares) {
      const GraphEdge& edge = part_.graph.edges[share.edge];
      if (!IsOnQueue(edge.node)) continue;
      const std::uint32_t asked = asked_[edge.on];
      owner_[edge.node] = asked == kNoNode ? owner_[edge.on] : owner_[asked];
    }
  }

  const RankDiagnosis& part_;
  std::vector<std::uint32_t> owner_;   // by node: the collective
  std::vector<std::uint32_t> before_;  // by node: the one before it in the task queue
  std::vector<std::uint32_t> asked_;   // by node: who put the piece that begins there into the queue
  std::vector<std::uint32_t> launch_;  // by collective
  std::vector<std::pair<TimeNs, std::uint32_t>> asking_;
};

}  // namespace

std::vector<std::vector<Removal::Edge>> IssuingWork(const Job& job) {
  std::vector<std::vector<Removal::Edge>> work(job.operations.all.size());
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    const RankDiagnosis& part = job.Part(rank);
    const RankIssuing issuing(part);
    for (const HostShare& share : part.shares) {
      const std::uint32_t owner = issuing.OwnerOf(share.edge);
      const bool issues = IsOf({Leaf::kDispatchOp, Leaf::kDispatchCann, Leaf::kDispatchComm}, share.leaf);
      if (owner == kNoOperation || !issues) continue;
      work[job.operations.of_rank[rank][owner]].push_back({job.graph.first_edge[rank] + share.edge, share.time});
    }
  }
  return work;
}

}  // namespace mpa
