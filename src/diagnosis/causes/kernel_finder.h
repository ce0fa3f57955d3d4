// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "finder.h"
#include "mpa/base/rank.h"
#include "mpa/measure/quantiles.h"

namespace mpa {

/// What looks for findings among the kernels of the counted steps.
class KernelFinder : protected Finder {
 public:
  using Finder::Finder;

 protected:
  struct KindUse {
    TimeNs time = 0;
    std::int64_t count = 0;
    TimeCategory category{};
    TimeNs Mean() const { return count == 0 ? 0 : time / count; }
  };

  bool Counts(const GraphNode& node) const {
    return node.kind == NodeKind::kKernel && job_.Counts(node.step);
  }

  /// Of the counted steps, by kind.
  std::vector<KindUse> UsesOf(RankIndex rank) const {
    const RankDiagnosis& part = job_.Part(rank);
    std::vector<KindUse> uses(part.kinds.size());
    for (const GraphNode& node : part.graph.nodes) {
      if (!Counts(node)) continue;
      KindUse& use = uses[static_cast<std::size_t>(node.row)];
      use.time += node.dur;
      use.category = node.category;
      ++use.count;
    }
    return uses;
  }

  /// Of the mean rank and step.
  bool IsShare(double time, double share) const {
    return time / RankSteps() >= share * static_cast<double>(job_.step_time);
  }

  /// In bytes per ns. What works element by element shows how fast the memory is, at least. 0:
  /// nothing is known of it. `uses`: by rank.
  double MemoryBandwidth(const std::vector<std::vector<KindUse>>& uses) const {
    if (thresholds_[kMemoryGbs] <= 0) return 0;
    std::vector<double> seen;
    for (RankIndex rank; rank < uses.size(); ++rank) {
      for (std::size_t kind = 0; kind < uses[rank].size(); ++kind) {
        const KernelKind& of = job_.Part(rank).kinds[kind];
        const TimeNs mean = uses[rank][kind].Mean();
        if (of.streams && static_cast<double>(of.bytes) >= thresholds_[kCacheBytes] && mean > 0)
          seen.push_back(Share(of.bytes, mean));
      }
    }
    if (seen.empty()) return thresholds_[kMemoryGbs] / 2;
    return std::min(ValueAtPosition(seen, PercentileIndex(seen.size(), 90)),
                    thresholds_[kMemoryGbs]);
  }

  /// Takes out of every kernel of a rank the share that its node is given.
  template <typename ShareOfNode>
  void Remove(RankIndex rank, ShareOfNode share_of, Removal& removal) const {
    const auto& nodes = job_.Part(rank).graph.nodes;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].kind != NodeKind::kKernel) continue;
      const TimeNs less = ShareOf(nodes[i].dur, share_of(nodes[i]));
      if (less > 0) removal.durations.push_back({job_.graph.first_node[rank] + i, less});
    }
  }
};

}  // namespace mpa
