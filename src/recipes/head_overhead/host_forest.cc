// SPDX-License-Identifier: Apache-2.0
#include "host_forest.h"

#include <algorithm>
#include <tuple>

namespace mpa::head {

HostForest::HostForest(const RankTrace& trace) {
  constexpr TimeNs kRounding = 1000;  // what exporters round times by
  const HostOps& ops = trace.host_ops;
  const auto events = MeaningOfTexts(trace.strings, ops.name, HostEventOf);
  nodes_.reserve(ops.Size());
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    const HostEvent event = events[Index(ops.name[i])];
    if (event == HostEvent::kStep) continue;
    nodes_.push_back({.start = ops.start[i],
                      .end = ops.start[i] + ops.dur[i],
                      .name = ops.name[i],
                      .track = ops.track[i],
                      .event = event});
  }
  std::stable_sort(nodes_.begin(), nodes_.end(), [](const HostNode& a, const HostNode& b) {
    return std::tie(a.track, a.start, b.end) < std::tie(b.track, b.start, a.end);
  });

  begin_of_track_.assign(trace.tracks.Size() + 1, 0);
  std::vector<std::int64_t> open;
  std::int64_t last_closed = HostNode::kNone;
  std::int32_t track = -1;
  const auto close = [&](std::int64_t until) {
    last_closed = open.back();
    nodes_[static_cast<std::size_t>(last_closed)].subtree_end = until;
    open.pop_back();
  };
  std::int64_t kept = 0;
  for (HostNode node : nodes_) {  // a copy: those that are kept close the gaps
    if (node.track != track) {
      while (!open.empty()) close(kept);
      last_closed = HostNode::kNone;
      track = node.track;
    }
    bool first_child = !open.empty();
    while (!open.empty() && At(open.back()).end <= node.start) {
      close(kept);
      first_child = false;
    }
    if (open.size() == kMostLevels) {
      ++too_deep_;
      continue;
    }
    ++begin_of_track_[static_cast<std::size_t>(track) + 1];
    if (!open.empty()) {
      node.parent = open.back();
      if (node.end > At(node.parent).end) {
        if (node.end - At(node.parent).end > kRounding) ++overhangs_;
        node.end = At(node.parent).end;
      }
    }
    node.previous = first_child ? HostNode::kNone : last_closed;
    nodes_[static_cast<std::size_t>(kept)] = node;
    open.push_back(kept++);
  }
  while (!open.empty()) close(kept);
  nodes_.resize(static_cast<std::size_t>(kept));
  for (std::size_t i = 1; i < begin_of_track_.size(); ++i) {
    begin_of_track_[i] += begin_of_track_[i - 1];
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
