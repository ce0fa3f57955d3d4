// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mpa/base/time.h"

/// What a run would have taken had parts of it been shorter: the moments of a job as a graph of
/// what waits for what, replayed with some of the work taken out.
namespace mpa {

/// Where a dependency begins: at the start of the node that is waited for, or at its end.
enum class WaitsFor : std::uint8_t { kStart, kEnd };

/// Work that a what-if takes out. Reductions of one place add up; none makes a time negative.
struct Removal {
  struct Node {
    std::uint32_t node;
    TimeNs less;
  };
  struct Edge {
    std::uint32_t edge;
    TimeNs less;
  };
  std::vector<Node> durations;
  std::vector<Edge> waits;              ///< of the weights of edges
  std::vector<std::uint32_t> cuts;      ///< edges that no longer hold anything up
  std::vector<std::uint32_t> prompt{};  ///< nodes that start as soon as they can

  bool IsEmpty() const {
    return durations.empty() && waits.empty() && cuts.empty() && prompt.empty();
  }
};

/// Nodes are pieces of work with a start and a duration, 0 for a mere moment. A node starts when
/// all that it waits for has come, each by its weight later, plus a lag, which is what the recorded
/// times leave unexplained. So replaying the untouched graph gives the recorded times.
class ReplayGraph {
 public:
  using Node = std::uint32_t;
  using Edge = std::uint32_t;

  /// Makes room, so that a large graph does not move as it grows.
  void Reserve(std::size_t nodes, std::size_t edges);
  Node Add(TimeNs start, TimeNs dur);
  /// `node` starts at the earliest `weight` behind `on`.
  Edge Wait(Node node, Node on, WaitsFor from, TimeNs weight);

  /// Orders the nodes and computes the lags. An edge that contradicts the recorded times by more
  /// than `tolerance`, or points against their order, is dropped. Nothing is added afterwards.
  void Finish(TimeNs tolerance);

  std::size_t Nodes() const { return start_.size(); }
  std::size_t Edges() const { return std::max(edges_.size(), step_of_edge_.size()); }
  std::size_t Dropped() const { return dropped_; }
  TimeNs Start(Node node) const { return start_[node]; }
  TimeNs Duration(Node node) const { return dur_[node]; }
  /// Once nothing is added any more.
  TimeNs Weight(Edge edge) const { return steps_[step_of_edge_[edge]].weight; }

  static constexpr Edge kNoEdge = 0xffffffff;
  /// Of a critical path: the duration of a node, or what it waited for by an edge.
  struct PathCut {
    Node node = 0;
    Edge edge = kNoEdge;
    TimeNs less = 0;
  };
  /// What `fix` takes out of the critical path that leads to the end of `last`, back to the time
  /// `from`, once `made` is done; from its end on.
  std::vector<PathCut> Shortened(Node last, TimeNs from, std::span<const Removal* const> made,
                                 const Removal& fix) const;

  /// The start of every node once the removals are made. Linear in nodes and edges.
  std::vector<TimeNs> Replay(std::span<const Removal* const> removals) const;

 private:
  friend class Replays;
  struct EdgeRow {
    TimeNs weight;
    Node node, on;
    WaitsFor from;
    bool dropped = false;
  };
  // An edge as a replay reads it: those of a node stand together, nodes in the order of the replay.
  // Those that were dropped stand behind all.
  struct Step {
    TimeNs weight;
    Node on;
    std::uint32_t number : 31, from_end : 1;
  };
  void Order();
  bool IsDropped(Edge edge) const { return step_of_edge_[edge] >= first_step_.back(); }
  TimeNs Arrival(const EdgeRow& edge, const std::vector<TimeNs>& start,
                 const std::vector<TimeNs>& dur, TimeNs weight) const;

  std::vector<TimeNs> start_, dur_, lag_;
  std::vector<EdgeRow> edges_;  // until the graph is finished
  std::vector<Node> order_;
  std::vector<Step> steps_;                  // what nodes wait for
  std::vector<std::uint32_t> step_of_edge_;  // position in steps_
  std::vector<std::uint32_t> first_step_;    // by position in order_
  std::size_t dropped_ = 0;
};

/// Several replays of one graph at once. Most of the time of a replay goes into reading the graph,
/// and here it is read once for all of them. The room that they need is used again by the next
/// ones.
class Replays {
 public:
  static constexpr std::size_t kMax = 4;

  /// Refers to the graph, which must outlive it.
  explicit Replays(const ReplayGraph& graph);

  /// A replay for each of `sets`, of which there are at most kMax, with its removals and those of
  /// `common`.
  void Run(std::span<const Removal* const> common,
           std::span<const std::vector<const Removal*>> sets);

  /// Of the last run.
  TimeNs Start(std::size_t set, ReplayGraph::Node node) const { return start_[node * sets_ + set]; }
  TimeNs Duration(std::size_t set, ReplayGraph::Node node) const;

 private:
  // What the sets take out of an edge or a node.
  struct Change {
    std::array<TimeNs, kMax> less{};
    std::uint8_t marked = 0;  // a bit for each set: an edge is cut, a node starts promptly
  };
  struct SetRange {
    std::size_t first, end;
  };
  void Add(const Removal& removal, SetRange range);
  Change& EdgeChange(ReplayGraph::Edge edge);
  Change& NodeChange(ReplayGraph::Node node);
  void Forget();
  template <std::size_t kSets>
  void Pass();

  const ReplayGraph& graph_;
  std::size_t sets_ = 1;
  std::unique_ptr<TimeNs[]> start_;               // by node and set; a run writes all of it
  std::size_t room_ = 0;                          // of start_
  std::vector<std::uint32_t> of_step_, of_node_;  // 1 + position in changes_; 0: unchanged
  std::vector<std::uint32_t> changed_steps_, changed_nodes_;
  std::vector<Change> changes_;
};

}  // namespace mpa
