// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/base/rank.h"

namespace mpa {

struct RankValue {
  RankId rank{};  ///< for RankName()
  double value = 0;
};

/// The values of several ranks. Of an even number the median is the mean of the two in the middle;
/// of equal extremes the first rank counts.
struct RankSpread {
  RankValue min, max;
  double median = 0;
};

/// One value for each rank, in order of rank: the mean of those it has, its steps for example.
std::vector<RankValue> MeansOfRanks(const std::vector<RankValue>& values);

/// Of one value at least.
RankSpread SpreadOf(std::vector<RankValue> values);

/// The ranks that stand out, the farthest first: their value is away from the median by more than
/// 5 % of it and by more than four times the usual distance, which is the median of the distances.
/// None of fewer than four ranks.
std::vector<RankValue> OutliersOf(const std::vector<RankValue>& values);

}  // namespace mpa
