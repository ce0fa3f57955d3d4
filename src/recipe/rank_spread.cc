// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/rank_spread.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "mpa/base/amounts.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

double MedianOf(const std::vector<RankValue>& values) {
  std::vector<double> numbers;
  numbers.reserve(values.size());
  for (const RankValue& value : values) numbers.push_back(value.value);
  return Median(std::move(numbers));
}

void Sort(std::vector<RankValue>& values) { StableSort(values, {}, &RankValue::value); }

}  // namespace

std::vector<RankValue> MeansOfRanks(const std::vector<RankValue>& values) {
  std::map<RankId, Tally<double>> of_ranks;
  for (const RankValue& value : values) of_ranks[value.rank].AddOne(value.value);
  std::vector<RankValue> means;
  for (const auto& [rank, of_rank] : of_ranks) means.push_back({rank, of_rank.Mean()});
  return means;
}

RankSpread SpreadOf(std::vector<RankValue> values) {
  Sort(values);
  const auto max = std::ranges::find_if(
      values, [&](const RankValue& value) { return value.value == values.back().value; });
  return {.min = values.front(), .max = *max, .median = MedianOf(values)};
}

std::vector<RankValue> OutliersOf(const std::vector<RankValue>& values) {
  constexpr std::size_t kMin = 4;
  constexpr double kShare = 0.05, kDistances = 4;
  if (values.size() < kMin) return {};
  const double median = SpreadOf(values).median;
  const auto distance = [&](const RankValue& value) { return std::abs(value.value - median); };
  std::vector<RankValue> distances;
  distances.reserve(values.size());
  for (const RankValue& value : values) distances.push_back({value.rank, distance(value)});
  const double limit = std::max(kShare * std::abs(median), kDistances * MedianOf(distances));
  std::vector<RankValue> outliers;
  for (const RankValue& value : values) {
    if (distance(value) > limit) outliers.push_back(value);
  }
  StableSort(outliers,
             [&](const RankValue& a, const RankValue& b) { return distance(a) > distance(b); });
  return outliers;
}

}  // namespace mpa
