// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

// Counters of kernels by which captures tell how they used the L2 cache: parts of their requests.
inline constexpr std::string_view kHitRate = "l2_hit_rate", kVictimRate = "l2_victim_rate";

/// Which part of the requests of kernels hit the L2 cache: as l2_cache.csv says, or by the counts
/// of aic_metrics=L2Cache. Needs the loads of the kernels; the rank must outlive it.
class CacheHits {
 public:
  explicit CacheHits(const RankTrace& trace);
  /// From 0 to 1; empty: not recorded. `kernel` is a row of Kernels.
  std::optional<double> Of(std::size_t kernel) const;

 private:
  const RankTrace& trace_;
  std::optional<std::size_t> rate_;         // places in counter_names
  std::vector<std::size_t> hits_, misses_;  // likewise
};

}  // namespace mpa
