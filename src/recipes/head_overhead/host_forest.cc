// SPDX-License-Identifier: Apache-2.0
#include "host_forest.h"

#include <algorithm>
#include <utility>

namespace mpa::head {
namespace {

// The framework events as they are, without the steps.
std::vector<HostNode> EventsOf(const RankTrace& trace) {
  const HostOps& ops = trace.host_ops;
  const auto events = MeaningOfTexts(trace.strings, ops.name, HostEventOf);
  std::vector<HostNode> nodes;
  nodes.reserve(ops.Size());
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    const HostEvent event = events[Index(ops.name[i])];
    if (event == HostEvent::kStep) continue;
    nodes.push_back({.start = ops.start[i],
                     .end = ops.start[i] + ops.dur[i],
                     .name = ops.name[i],
                     .track = ops.track[i],
                     .event = event});
  }
  return nodes;
}

Nesting Nest(const std::vector<HostNode>& events) {
  std::vector<NestSpan> spans;
  spans.reserve(events.size());
  for (const HostNode& event : events) spans.push_back({event.start, event.end, event.track});
  return Nesting(std::move(spans), Overhang::kCut);
}

}  // namespace

HostForest::HostForest(const RankTrace& trace) {
  constexpr TimeNs kRounding = 1000;  // what exporters round times by
  const std::vector<HostNode> events = EventsOf(trace);
  const Nesting nesting = Nest(events);
  std::vector<std::size_t> level(events.size());
  std::vector<std::int64_t> node_of(events.size(), HostNode::kNone);
  std::vector<std::int64_t> last_child(events.size(), HostNode::kNone);
  nodes_.reserve(events.size());
  for (std::int32_t track = -1; track < nesting.Tracks(); ++track) {
    std::int64_t last_root = HostNode::kNone;
    for (const std::uint32_t event : nesting.OnTrack(track)) {
      const std::int64_t outer = nesting.Parent(event);
      const auto around = static_cast<std::size_t>(outer);
      level[event] = outer == Nesting::kNone ? 1 : level[around] + 1;
      if (level[event] > kMostLevels) {
        ++too_deep_;
        continue;
      }
      node_of[event] = static_cast<std::int64_t>(nodes_.size());
      HostNode& node = nodes_.emplace_back(events[event]);
      if (node.end - nesting.At(event).end > kRounding) ++overhangs_;
      node.end = nesting.At(event).end;
      if (outer != Nesting::kNone) node.parent = node_of[around];
      std::int64_t& last_sibling = outer == Nesting::kNone ? last_root : last_child[around];
      node.previous = std::exchange(last_sibling, node_of[event]);
    }
    begin_of_track_.push_back(static_cast<std::int64_t>(nodes_.size()));
  }
  begin_of_track_.resize(trace.tracks.Size() + 1, static_cast<std::int64_t>(nodes_.size()));
  for (auto node = static_cast<std::int64_t>(nodes_.size()) - 1; node >= 0; --node) {
    HostNode& at = nodes_[static_cast<std::size_t>(node)];
    at.subtree_end = std::max(at.subtree_end, node + 1);
    if (at.parent == HostNode::kNone) continue;
    std::int64_t& outer_end = nodes_[static_cast<std::size_t>(at.parent)].subtree_end;
    outer_end = std::max(outer_end, at.subtree_end);
  }
}

std::int64_t HostForest::FirstFrom(std::int32_t track, TimeNs time) const {
  const auto at = static_cast<std::size_t>(track);
  const auto first = std::partition_point(nodes_.begin() + begin_of_track_[at],
                                          nodes_.begin() + begin_of_track_[at + 1],
                                          [&](const HostNode& node) { return node.start < time; });
  return first - nodes_.begin();
}

std::int64_t HostForest::EndOf(std::int32_t track) const {
  return begin_of_track_[static_cast<std::size_t>(track) + 1];
}

}  // namespace mpa::head
