// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "mpa/timeline/rank_slices.h"

namespace mpa {

/// Keeps the longest slices of all ranks, of equally long ones those of the first ranks. Holds
/// twice as many as it keeps at most, and those of one rank.
class LongestSlices {
 public:
  explicit LongestSlices(std::size_t most) : most_(most) {}

  /// `position`: the place of the rank among all. May be called by several threads at once; what
  /// stays does not depend on their order.
  void Add(std::size_t position, RankSlices rank);
  /// In order of position.
  std::vector<RankSlices> Take();

 private:
  void Prune();

  const std::size_t most_;
  std::mutex mutex_;
  std::size_t count_ = 0;
  std::map<std::size_t, RankSlices> ranks_;
};

}  // namespace mpa
