// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "map_rank.h"

namespace mpa {

/// Which parts of a job are in memory whole, of recipes that can do with the outlines of the others
/// (Recipe::outlines). Of other recipes all are. What `reduce` gets depends on the parts and on
/// `bytes` alone: not on the order in which the ranks are read, and neither on whether it is their
/// captures or their parts that are read.
class WholeParts {
 public:
  /// `bytes`: of memory for `reduce`; 0: no limit.
  WholeParts(const Recipe& recipe, std::int64_t bytes, std::size_t ranks)
      : recipe_(recipe), bytes_(bytes), is_whole_(ranks, 0) {}

  /// Keeps the part of rank number `i` that was just made, or if there is no room its outline. May
  /// be called for several ranks at once.
  void Keep(std::size_t i, RankPart part, MappedRank& mapped);

  /// Chooses the parts that `reduce` needs whole, once all ranks have a part, an outline, or have
  /// failed. Calls `read` with those that are not here; it replaces what `mapped` has of these
  /// ranks.
  void Choose(const RecipeArguments& arguments, const std::vector<RankId>& ranks,
              std::vector<MappedRank>& mapped,
              const std::function<void(const std::vector<std::size_t>&)>& read);

 private:
  void LeaveOutline(RankPart part, MappedRank& mapped) const;

  const Recipe& recipe_;
  const std::int64_t bytes_;
  std::vector<char> is_whole_;  // by rank
  std::atomic<std::int64_t> taken_ = 0;
};

}  // namespace mpa
