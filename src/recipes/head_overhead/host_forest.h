// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "host_events.h"
#include "mpa/measure/nesting.h"

namespace mpa::head {

/// A framework event in the tree of its thread. Nodes are named by their position.
struct HostNode {
  static constexpr std::int64_t kNone = Nesting::kNone;
  TimeNs start = 0, end = 0;  ///< cut to the parent's
  StringId name{};
  std::int32_t track = -1;
  HostEvent event{};
  std::int64_t parent = kNone;
  std::int64_t previous = kNone;  ///< the sibling before it
  std::int64_t subtree_end = 0;   ///< one beyond the last node below it
};

/// The framework events of a rank as trees, each thread for itself (Nesting, with Overhang::kCut,
/// so that segments of a call add up to it): a node is followed by all below it. Steps are left
/// out, they may overlap calls.
class HostForest {
 public:
  explicit HostForest(const RankTrace& trace);

  const std::vector<HostNode>& Nodes() const { return nodes_; }
  const HostNode& At(std::int64_t node) const { return nodes_[static_cast<std::size_t>(node)]; }
  /// The first node of the thread that starts at `time` or later.
  std::int64_t FirstFrom(std::int32_t track, TimeNs time) const;
  /// One beyond the last node of the thread.
  std::int64_t EndOf(std::int32_t track) const;
  /// Events that lasted more than a microsecond longer than the event around them.
  std::int64_t Overhangs() const { return overhangs_; }
  /// Events that were left out because they lie in more than kMostLevels others, as no program's
  /// do: what is around an event is looked up one by one.
  std::int64_t TooDeep() const { return too_deep_; }
  static constexpr std::size_t kMostLevels = 1000;

 private:
  std::vector<HostNode> nodes_;
  std::vector<std::int64_t> begin_of_track_;  // with one more at the end
  std::int64_t overhangs_ = 0, too_deep_ = 0;
};

}  // namespace mpa::head
