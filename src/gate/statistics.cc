// SPDX-License-Identifier: Apache-2.0
#include "statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "mpa/measure/quantiles.h"

namespace mpa::gate {

double SpreadAround(const std::vector<std::int64_t>& values, std::int64_t middle) {
  if (values.size() < 2) return 0;
  std::vector<std::int64_t> distances;
  distances.reserve(values.size());
  for (const std::int64_t value : values) distances.push_back(std::abs(value - middle));
  return kOfNormalNoise * static_cast<double>(Median(std::move(distances)));
}

double SquaredDistances(const std::vector<std::int64_t>& values) {
  if (values.empty()) return 0;
  // From the first value on, so that the mean of large times loses nothing.
  double mean = 0;
  for (const std::int64_t value : values) mean += static_cast<double>(value - values.front());
  mean /= static_cast<double>(values.size());
  double sum = 0;
  for (const std::int64_t value : values) {
    const double distance = static_cast<double>(value - values.front()) - mean;
    sum += distance * distance;
  }
  return sum;
}

double RankSumProbability(const std::vector<std::int64_t>& smaller,
                          const std::vector<std::int64_t>& larger) {
  if (smaller.empty() || larger.empty()) return 1;
  std::vector<std::pair<std::int64_t, bool>> joined;
  joined.reserve(smaller.size() + larger.size());
  for (const std::int64_t value : smaller) joined.emplace_back(value, false);
  for (const std::int64_t value : larger) joined.emplace_back(value, true);
  std::sort(joined.begin(), joined.end());

  // Ranks times two: equal values share the mean of theirs, which may end in a half.
  std::vector<std::size_t> ranks;
  std::size_t observed = 0;
  for (std::size_t from = 0; from < joined.size();) {
    std::size_t to = from;
    while (to < joined.size() && joined[to].first == joined[from].first) ++to;
    for (std::size_t i = from; i < to; ++i) {
      ranks.push_back(from + to + 1);
      if (joined[i].second) observed += ranks.back();
    }
    from = to;
  }

  // ways[n][s]: how many choices of n values have ranks that add up to s.
  const std::size_t chosen = larger.size();
  std::size_t most = 0;
  for (const std::size_t rank : ranks) most += rank;
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(most + 1, 0.0));
  ways[0][0] = 1;
  for (const std::size_t rank : ranks) {
    for (std::size_t n = chosen; n > 0; --n) {
      for (std::size_t sum = most; sum >= rank; --sum) ways[n][sum] += ways[n - 1][sum - rank];
    }
  }
  double all = 0;
  double as_high = 0;
  for (std::size_t sum = 0; sum <= most; ++sum) {
    all += ways[chosen][sum];
    if (sum >= observed) as_high += ways[chosen][sum];
  }
  return as_high / all;
}

}  // namespace mpa::gate
