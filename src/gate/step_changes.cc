// SPDX-License-Identifier: Apache-2.0
// Where the level of a metric changed, in a history of runs. The change point model of Hawkins and
// Deng (2010): of all places the one where the standardised statistic of Mann and Whitney is
// largest. It uses ranks, so that outliers weigh no more than other values. How large it may be by
// chance is found by permutations of blocks (Kirch 2007), because neighbouring runs are alike. The
// place is that of the least absolute deviations (Bai 1995): ranks alone cannot tell it where one
// run of the old level happens to be high.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "levels.h"
#include "mpa/gate/history.h"
#include "mpa/measure/quantiles.h"

namespace mpa::gate {
namespace {

constexpr int kPermutations = 999;
constexpr double kChangeIsSure = 0.01;
// The noise band: what leaves it is a change.
constexpr double kMostBand = 2;

using Values = std::span<const std::int64_t>;

std::int64_t MedianOf(Values values) {
  return Median(std::vector<std::int64_t>(values.begin(), values.end()));
}

// Ranks less their mean, times two: equal values share the mean of theirs, which may end in a half.
std::vector<std::int64_t> CentredRanks(Values values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<std::int64_t> ranks(values.size());
  for (std::size_t from = 0; from < order.size();) {
    std::size_t to = from;
    while (to < order.size() && values[order[to]] == values[order[from]]) ++to;
    for (std::size_t i = from; i < to; ++i) {
      ranks[order[i]] =
          static_cast<std::int64_t>(from + to) - static_cast<std::int64_t>(order.size());
    }
    from = to;
  }
  return ranks;
}

// Values that stand out from those before and behind them.
struct Part {
  std::size_t begin = 0, end = 0;
  double statistic = 0;  // squared and without factors that permutations do not change
};

// One side of a single step, or between two steps.
enum class Where { kAtEnd, kWithin };

Part MostDifferent(const std::vector<std::int64_t>& ranks, Where where) {
  const std::size_t count = ranks.size();
  std::vector<std::int64_t> sums(count + 1);
  std::partial_sum(ranks.begin(), ranks.end(), sums.begin() + 1);
  Part part;
  const std::size_t first = where == Where::kAtEnd ? 0 : kLeastRunsOfLevel;
  const std::size_t last = where == Where::kAtEnd ? 0 : count;
  for (std::size_t begin = first; begin <= last; ++begin) {
    for (std::size_t end = begin + kLeastRunsOfLevel; end + kLeastRunsOfLevel <= count; ++end) {
      const auto sum = static_cast<double>(sums[end] - sums[begin]);
      const double statistic =
          sum * sum / static_cast<double>((end - begin) * (count - (end - begin)));
      if (statistic > part.statistic) part = {begin, end, statistic};
    }
  }
  return part;
}

// Runs that are permuted together: they grow with the cube root of the values, as is usual.
std::size_t BlockOf(std::size_t values) {
  return static_cast<std::size_t>(std::max(2L, std::lround(std::cbrt(values)))) - 1;
}

// How probable it is that the same values in another order have a place as clear.
double ProbabilityOf(const std::vector<std::int64_t>& ranks, Where where, double found) {
  std::mt19937_64 random(ranks.size());  // the same history has the same answer
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  const std::size_t size = BlockOf(ranks.size());
  std::vector<std::size_t> blocks((ranks.size() + size - 1) / size);
  std::iota(blocks.begin(), blocks.end(), std::size_t{0});
  int as_clear = 1;
  std::vector<std::int64_t> permuted;
  for (int i = 0; i < kPermutations; ++i) {
    const std::size_t first = below(ranks.size());
    for (std::size_t at = blocks.size() - 1; at > 0; --at)
      std::swap(blocks[at], blocks[below(at + 1)]);
    permuted.clear();
    for (const std::size_t block : blocks) {
      const std::size_t end = std::min(ranks.size(), (block + 1) * size);
      for (std::size_t at = block * size; at < end; ++at)
        permuted.push_back(ranks[(first + at) % ranks.size()]);
    }
    if (MostDifferent(permuted, where).statistic >= found) ++as_clear;
  }
  return static_cast<double>(as_clear) / (kPermutations + 1);
}

// A place where the level may change, between two others.
struct Step {
  std::size_t place = 0;
  double probability = 0;
};

// Adds the places within `values`, the first of which is at `begin`, in ascending order.
void FindSteps(Values values, std::size_t begin, std::vector<Step>& steps) {
  if (values.size() < 2 * kLeastRunsOfLevel) return;
  const std::vector<std::int64_t> ranks = CentredRanks(values);
  for (const Where where : {Where::kAtEnd, Where::kWithin}) {
    const Part part = MostDifferent(ranks, where);
    if (part.statistic == 0) continue;
    const double probability = ProbabilityOf(ranks, where, part.statistic);
    if (probability > kChangeIsSure) continue;
    FindSteps(values.first(part.begin), begin, steps);
    if (part.begin > 0) steps.push_back({begin + part.begin, probability});
    FindSteps(values.subspan(part.begin, part.end - part.begin), begin + part.begin, steps);
    steps.push_back({begin + part.end, probability});
    return FindSteps(values.subspan(part.end), begin + part.end, steps);
  }
}

// The sum of the distances from the median.
std::int64_t DeviationsOf(Values side) {
  const std::int64_t level = MedianOf(side);
  std::int64_t sum = 0;
  for (const std::int64_t value : side) sum += std::abs(value - level);
  return sum;
}

// Where the distances from the medians of both sides are least.
std::size_t PlaceOf(Values values) {
  std::size_t place = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t k = kLeastRunsOfLevel; k + kLeastRunsOfLevel <= values.size(); ++k) {
    const std::int64_t sum = DeviationsOf(values.first(k)) + DeviationsOf(values.subspan(k));
    if (sum < least) std::tie(place, least) = std::pair(k, sum);
  }
  return place;
}

// The values less the levels of both sides.
std::vector<std::int64_t> Residuals(Values before, Values after) {
  std::vector<std::int64_t> residuals;
  for (const Values side : {before, after}) {
    const std::int64_t level = MedianOf(side);
    for (const std::int64_t value : side) residuals.push_back(value - level);
  }
  return residuals;
}

// By how much noise that neighbours share moves medians more: as a first-order autoregression
// does, from the correlation of the ranks of neighbours.
double Inflation(const std::vector<std::int64_t>& residuals) {
  const std::vector<std::int64_t> ranks = CentredRanks(residuals);
  double neighbours = 0, squares = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<double>(ranks[i]);
    squares += rank * rank;
    if (i > 0) neighbours += rank * static_cast<double>(ranks[i - 1]);
  }
  const double correlation = squares > 0 ? std::clamp(neighbours / squares, 0.0, 0.9) : 0;
  return std::sqrt((1 + correlation) / (1 - correlation));
}

double SpreadOf(Values values) {
  return SpreadAround({values.begin(), values.end()}, MedianOf(values));
}

// How many times the noise a step is.
double SizeOf(Values before, Values after) {
  const auto size = static_cast<double>(std::abs(MedianOf(after) - MedianOf(before)));
  const std::vector<std::int64_t> residuals = Residuals(before, after);
  // Where runs of one side differ more, all of them may.
  const double spread = std::max({SpreadAround(residuals, 0), SpreadOf(before), SpreadOf(after)});
  const double noise = spread * Inflation(residuals);
  return noise > 0 ? size / noise : size > 0 ? std::numeric_limits<double>::infinity() : 0;
}

// The values on both sides of a step, up to the next ones.
std::pair<Values, Values> SidesOf(Values values, const std::vector<Step>& steps, std::size_t i) {
  const std::size_t begin = i == 0 ? 0 : steps[i - 1].place;
  const std::size_t end = i + 1 == steps.size() ? values.size() : steps[i + 1].place;
  return {values.subspan(begin, steps[i].place - begin),
          values.subspan(steps[i].place, end - steps[i].place)};
}

// Puts each step where it fits best, and drops those within the noise, the least one first.
void DropSmallSteps(Values values, std::vector<Step>& steps) {
  while (!steps.empty()) {
    std::vector<double> sizes;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::size_t begin = i == 0 ? 0 : steps[i - 1].place;
      const auto [before, after] = SidesOf(values, steps, i);
      steps[i].place = begin + PlaceOf(values.subspan(begin, before.size() + after.size()));
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto [before, after] = SidesOf(values, steps, i);
      sizes.push_back(SizeOf(before, after));
    }
    const auto least = std::ranges::min_element(sizes);
    if (*least > kMostBand) return;
    steps.erase(steps.begin() + (least - sizes.begin()));
  }
}

}  // namespace

std::vector<Stretch> FindStretches(const std::vector<std::int64_t>& values) {
  std::vector<Stretch> stretches;
  if (values.empty()) return stretches;
  std::vector<Step> steps;
  FindSteps(values, 0, steps);
  DropSmallSteps(values, steps);
  steps.push_back({values.size(), 0});
  std::optional<double> probability;
  std::size_t begin = 0;
  for (const Step& step : steps) {
    const Values stretch = Values(values).subspan(begin, step.place - begin);
    stretches.push_back({.begin = begin,
                         .end = step.place,
                         .median = MedianOf(stretch),
                         .noise = std::llround(SpreadOf(stretch)),
                         .probability = probability});
    begin = step.place;
    probability = step.probability;
  }
  return stretches;
}

}  // namespace mpa::gate
