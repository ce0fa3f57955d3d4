// SPDX-License-Identifier: Apache-2.0
// What a fix takes out of the critical path.
#include <algorithm>

#include "mpa/diagnosis/replay/replay.h"

namespace mpa {

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
    return std::max<TimeNs>(0, edges_[edge].weight - before.weight[edge]);
  };
  const auto arrival = [&](Edge edge) {
    const EdgeRow& row = edges_[edge];
    return start[row.on] + (row.from == WaitsFor::kEnd ? duration(row.on) : 0) + weight(edge);
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
    to_end = edges_[holds].from == WaitsFor::kEnd;
    node = edges_[holds].on;
  }
  return cuts;
}

}  // namespace mpa
