// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/replay/replay.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "mpa/base/rows_by.h"

namespace mpa {
namespace {

constexpr TimeNs kNothing = std::numeric_limits<TimeNs>::min();
constexpr std::uint32_t kLastEdge = 0x7fffffff;

}  // namespace

void ReplayGraph::Reserve(std::size_t nodes, std::size_t edges) {
  start_.reserve(nodes);
  dur_.reserve(nodes);
  edges_.reserve(edges);
}

ReplayGraph::Node ReplayGraph::Add(TimeNs start, TimeNs dur) {
  start_.push_back(start);
  dur_.push_back(dur);
  return static_cast<Node>(start_.size() - 1);
}

ReplayGraph::Edge ReplayGraph::Wait(Node node, Node on, WaitsFor from, TimeNs weight) {
  edges_.push_back({std::max<TimeNs>(0, weight), node, on, from, false});
  return static_cast<Edge>(edges_.size() - 1);
}

TimeNs ReplayGraph::Arrival(const EdgeRow& edge, const std::vector<TimeNs>& start,
                            const std::vector<TimeNs>& dur, TimeNs weight) const {
  return start[edge.on] + (edge.from == WaitsFor::kEnd ? dur[edge.on] : 0) + weight;
}

// Puts every node behind all that it waits for, the earliest first. Where equal times make nodes
// wait for each other, edges are dropped.
void ReplayGraph::Order() {
  std::vector<std::uint32_t> open(Nodes(), 0), first(Nodes() + 1, 0);
  for (const EdgeRow& edge : edges_) {
    if (edge.dropped) continue;
    ++open[edge.node];
    ++first[edge.on + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::uint32_t> followers(first.back()), next(first.begin(), first.end() - 1);
  for (std::uint32_t i = 0; i < edges_.size(); ++i) {
    if (!edges_[i].dropped) followers[next[edges_[i].on]++] = i;
  }
  const std::vector<Node> by_start = RowsBy<Node>(Nodes(), [&](Node node) { return start_[node]; });
  std::vector<bool> placed(Nodes(), false);
  order_.clear();
  order_.reserve(Nodes());
  const auto place_from = [&](Node node) {
    std::size_t at = order_.size();
    placed[node] = true;
    order_.push_back(node);
    for (; at < order_.size(); ++at) {
      for (std::uint32_t i = first[order_[at]]; i < first[order_[at] + 1]; ++i) {
        const EdgeRow& edge = edges_[followers[i]];
        if (edge.dropped || --open[edge.node] > 0 || placed[edge.node]) continue;
        placed[edge.node] = true;
        order_.push_back(edge.node);
      }
    }
  };
  for (const Node node : by_start) {
    if (!placed[node] && open[node] == 0) place_from(node);
  }
  if (order_.size() == Nodes()) return;
  // Of what is left each node waits for another one that is. The first of them loses just these
  // edges, which cannot hold: what it waits for begins no earlier. What follows keeps its own.
  std::vector<std::vector<std::uint32_t>> waits(Nodes());
  for (std::uint32_t i = 0; i < edges_.size(); ++i) {
    if (!edges_[i].dropped && !placed[edges_[i].node] && !placed[edges_[i].on])
      waits[edges_[i].node].push_back(i);
  }
  for (const Node node : by_start) {
    if (placed[node]) continue;
    for (const std::uint32_t i : waits[node]) {
      if (placed[edges_[i].on]) continue;
      edges_[i].dropped = true;
      ++dropped_;
    }
    place_from(node);
  }
}

void ReplayGraph::Finish(TimeNs tolerance) {
  for (EdgeRow& edge : edges_) {
    const TimeNs late = Arrival(edge, start_, dur_, edge.weight) - start_[edge.node];
    // A recorded time that is a little early is the clock's fault: the weight gives way.
    if (late > 0 && late <= tolerance + edge.weight)
      edge.weight = std::max<TimeNs>(0, edge.weight - late);
    edge.dropped = late > tolerance + edge.weight || edge.on == edge.node;
    if (edge.dropped) ++dropped_;
  }
  Order();
  std::vector<std::uint32_t> position(Nodes());
  for (std::uint32_t i = 0; i < order_.size(); ++i) position[order_[i]] = i;
  first_step_.assign(Nodes() + 1, 0);
  for (const EdgeRow& edge : edges_) {
    if (!edge.dropped) ++first_step_[position[edge.node] + 1];
  }
  std::partial_sum(first_step_.begin(), first_step_.end(), first_step_.begin());
  steps_.resize(edges_.size());
  step_of_edge_.resize(edges_.size());
  std::vector<std::uint32_t> next = first_step_;  // the last one: of those that were dropped
  for (std::uint32_t i = 0; i < edges_.size(); ++i) {
    const EdgeRow& edge = edges_[i];
    std::uint32_t& at = edge.dropped ? next.back() : next[position[edge.node]];
    step_of_edge_[i] = at;
    steps_[at++] = {edge.weight, edge.on, i & kLastEdge, edge.from == WaitsFor::kEnd};
  }
  edges_ = {};
  lag_.assign(Nodes(), 0);
  for (std::uint32_t i = 0; i < order_.size(); ++i) {
    const Node node = order_[i];
    TimeNs latest = kNothing;
    for (std::uint32_t at = first_step_[i]; at < first_step_[i + 1]; ++at) {
      const Step& step = steps_[at];
      latest =
          std::max(latest, start_[step.on] + (step.from_end ? dur_[step.on] : 0) + step.weight);
    }
    // What waits for nothing is held up by nothing: it keeps its time.
    lag_[node] = latest == kNothing ? start_[node] : start_[node] - latest;
  }
}

std::vector<TimeNs> ReplayGraph::Replay(std::span<const Removal* const> removals) const {
  Replays replays(*this);
  const std::vector<const Removal*> set(removals.begin(), removals.end());
  replays.Run({}, {&set, 1});
  std::vector<TimeNs> start(Nodes());
  for (Node node = 0; node < start.size(); ++node) start[node] = replays.Start(0, node);
  return start;
}

// What a fix takes out of the critical path.

std::vector<ReplayGraph::PathCut> ReplayGraph::Shortened(Node last, TimeNs from,
                                                         std::span<const Removal* const> made,
                                                         const Removal& fix) const {
  struct Less {
    Less(std::size_t nodes, std::size_t edges)
        : dur(nodes, 0), weight(edges, 0), cut(edges, false), prompt(nodes, false) {}
    void Add(const Removal& removal) {
      for (const auto& [node, less] : removal.durations) dur[node] += less;
      for (const auto& [edge, less] : removal.waits) weight[edge] += less;
      for (const Edge edge : removal.cuts) cut[edge] = true;
      for (const Node node : removal.prompt) prompt[node] = true;
    }
    std::vector<TimeNs> dur, weight;
    std::vector<bool> cut, prompt;
  };
  const std::vector<TimeNs> start = Replay(made);
  Less before(Nodes(), Edges()), now(Nodes(), Edges());
  for (const Removal* removal : made) before.Add(*removal);
  now.Add(fix);
  const auto duration = [&](Node node) {
    return std::max<TimeNs>(0, dur_[node] - before.dur[node]);
  };
  const auto weight = [&](Edge edge) {
    return std::max<TimeNs>(0, Weight(edge) - before.weight[edge]);
  };
  const auto step_of = [&](Edge edge) -> const Step& { return steps_[step_of_edge_[edge]]; };
  const auto arrival = [&](Edge edge) {
    const Step& step = step_of(edge);
    return start[step.on] + (step.from_end ? duration(step.on) : 0) + weight(edge);
  };
  std::vector<std::uint32_t> position(Nodes());
  for (std::uint32_t i = 0; i < order_.size(); ++i) position[order_[i]] = i;
  std::vector<PathCut> cuts;
  const auto add = [&](Node node, Edge edge, TimeNs less) {
    if (less > 0) cuts.push_back({node, edge, less});
  };
  bool to_end = true;  // the path goes through the duration of the node
  for (Node node = last; start[node] + (to_end ? duration(node) : 0) > from;) {
    if (to_end) add(node, kNoEdge, std::min(now.dur[node], duration(node)));
    if (now.prompt[node] && !before.prompt[node]) add(node, kNoEdge, lag_[node]);
    Edge holds = kNoEdge, else_holds = kNoEdge;  // the second one of those that stay
    for (std::uint32_t i = first_step_[position[node]]; i < first_step_[position[node] + 1]; ++i) {
      const Edge edge = steps_[i].number;
      if (before.cut[edge]) continue;
      if (holds == kNoEdge || arrival(edge) > arrival(holds)) holds = edge;
      if (!now.cut[edge] && (else_holds == kNoEdge || arrival(edge) > arrival(else_holds)))
        else_holds = edge;
    }
    if (holds == kNoEdge) break;
    if (!now.cut[holds]) {
      add(node, holds, std::min(now.weight[holds], weight(holds)));
    } else if (else_holds != kNoEdge) {
      add(node, holds, arrival(holds) - arrival(else_holds));
    }
    to_end = step_of(holds).from_end;
    node = step_of(holds).on;
  }
  return cuts;
}

}  // namespace mpa
