// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace mpa::gate {

/// The standard deviation of normal noise as a multiple of its median distance from the middle.
inline constexpr double kOfNormalNoise = 1.4826;

/// How far single values lie from `middle`, as a standard deviation: 1.4826 times the median of the
/// distances, which a few outliers do not move. 0 for fewer than two values.
double SpreadAround(const std::vector<std::int64_t>& values, std::int64_t middle);

/// The sum of the squared distances from the mean.
double SquaredDistances(const std::vector<std::int64_t>& values);

/// Permutation test on the ranks: how probable it is that of all ways to divide the joined values
/// into two groups of these sizes `larger` gets ranks as high as it has, or higher. Exact, also
/// with equal values. 1 when a group is empty.
double RankSumProbability(const std::vector<std::int64_t>& smaller,
                          const std::vector<std::int64_t>& larger);

}  // namespace mpa::gate
