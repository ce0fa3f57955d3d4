// SPDX-License-Identifier: Apache-2.0
#include "levels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
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
  std::ranges::sort(joined);

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

namespace {

TimesByName MedianTimes(const std::vector<RunSummary>& runs, TimesByName Breakdown::*section) {
  TimesByName medians;
  for (const RunSummary& run : runs) {
    for (const auto& [name, amount] : run.breakdown.*section) medians.try_emplace(name);
  }
  for (auto& [name, median] : medians) {
    std::vector<std::int64_t> times, counts;
    for (const RunSummary& run : runs) {
      const TimesByName& of_run = run.breakdown.*section;
      const auto found = of_run.find(name);
      const TimeAndCount amount = found == of_run.end() ? TimeAndCount() : found->second;
      times.push_back(amount.time);
      counts.push_back(amount.count);
    }
    median = {Median(times), Median(counts)};
  }
  return medians;
}

}  // namespace

std::vector<std::vector<std::int64_t>> SamplesOf(const std::vector<RunSummary>& runs,
                                                 const Metric& metric) {
  std::vector<std::vector<std::int64_t>> samples;
  for (const RunSummary& run : runs) {
    const auto found = run.samples.find(metric);
    if (found == run.samples.end() || found->second.empty()) return {};
    samples.push_back(found->second);
  }
  return samples;
}

std::map<Metric, std::int64_t> MediansOf(const std::vector<RunSummary>& runs) {
  std::map<Metric, std::int64_t> medians;
  for (const auto& [metric, first] : runs.front().samples) {
    std::vector<std::int64_t> of_runs;
    for (const auto& samples : SamplesOf(runs, metric)) of_runs.push_back(Median(samples));
    if (!of_runs.empty()) medians[metric] = Median(of_runs);
  }
  return medians;
}

Breakdown MedianBreakdown(const std::vector<RunSummary>& runs) {
  return {.kernels = MedianTimes(runs, &Breakdown::kernels),
          .op_types = MedianTimes(runs, &Breakdown::op_types),
          .operators = MedianTimes(runs, &Breakdown::operators),
          .modules = MedianTimes(runs, &Breakdown::modules),
          .apis = MedianTimes(runs, &Breakdown::apis),
          .collectives = MedianTimes(runs, &Breakdown::collectives),
          .capture = MedianTimes(runs, &Breakdown::capture),
          .account = MedianTimes(runs, &Breakdown::account),
          .places = MedianTimes(runs, &Breakdown::places),
          .phases = MedianTimes(runs, &Breakdown::phases)};
}

// From the steps of both sides to the values that are compared, and their noise.

namespace {

// With fewer steps than these any noise looks like a line.
constexpr double kMinForDrift = 4;
// How many standard deviations a slope, or the difference of two, lies above 0 to count as drift.
constexpr double kClearDrift = 3;
// Drift that changes the value by less over the run is of no interest, and what changes it by more
// is something else: first steps that are slow, for example.
constexpr double kMinDrift = 0.01, kMaxDrift = 0.2;

// The slopes between all pairs of steps. Of long runs, pairs of medians of neighbouring steps: all
// pairs would be too many.
void AddSlopes(const std::vector<std::int64_t>& steps, std::vector<double>& slopes) {
  constexpr std::size_t kMaxPoints = 128;
  const std::size_t width = (steps.size() + kMaxPoints - 1) / kMaxPoints;
  std::vector<std::int64_t> points;
  for (std::size_t at = 0; at + width <= steps.size(); at += width) {
    const auto from = steps.begin() + static_cast<std::ptrdiff_t>(at);
    points.push_back(
        Median(std::vector<std::int64_t>(from, from + static_cast<std::ptrdiff_t>(width))));
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      slopes.push_back(static_cast<double>(points[j] - points[i]) /
                       static_cast<double>((j - i) * width));
    }
  }
}

double SlopeOf(const Runs& runs, const Runs& more = {}) {
  std::vector<double> slopes;
  for (const auto& steps : runs) AddSlopes(steps, slopes);
  for (const auto& steps : more) AddSlopes(steps, slopes);
  return Median(std::move(slopes));
}

// The runs of a side as they would be without drift.
struct Flat {
  std::vector<std::int64_t> levels;
  Runs rest;  // the distance of each step from the level
};

Flat Flatten(const Runs& runs, double slope, double middle) {
  Flat flat;
  for (std::vector<std::int64_t> steps : runs) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i] -= std::llround(slope * (static_cast<double>(i) - middle));
    }
    const std::int64_t level = flat.levels.emplace_back(Median(steps));
    for (std::int64_t& step : steps) step -= level;
    flat.rest.push_back(std::move(steps));
  }
  return flat;
}

struct Fit {
  Flat base, comparison;
  double slopes = 0;  // that each side has of its own: a half of one that both share
};

// How far single steps lie from the lines, as a standard deviation.
double SpreadOf(const Fit& fit) {
  double squares = 0, freedoms = -2 * fit.slopes;
  for (const Flat* side : {&fit.base, &fit.comparison}) {
    for (const auto& rest : side->rest) {
      for (const std::int64_t distance : rest) {
        squares += static_cast<double>(distance) * static_cast<double>(distance);
      }
      freedoms += static_cast<double>(rest.size()) - 1;
    }
  }
  return freedoms > 0 ? std::sqrt(squares / freedoms) : 0;
}

// The sum of the squared distances of the steps' numbers from their mean, for each run.
double SpreadOfNumbers(const Runs& runs) {
  double sum = 0;
  for (const auto& steps : runs) {
    const auto count = static_cast<double>(steps.size());
    sum += count * (count * count - 1) / 12;
  }
  return sum;
}

// 1.4826 times the median distance, over the runs of both sides.
double CommonSpread(const Fit& fit) {
  std::vector<double> distances;
  for (const Flat* side : {&fit.base, &fit.comparison}) {
    for (const auto& rest : side->rest) {
      for (const std::int64_t distance : rest) {
        distances.push_back(static_cast<double>(std::abs(distance)));
      }
    }
  }
  return kOfNormalNoise * Median(std::move(distances));
}

// How far a step may be from the level of its run to count as noise. A few far away from all others
// do not move a median, and say nothing of its noise.
double FarthestNoise(const std::vector<std::int64_t>& rest, double common_spread) {
  constexpr double kFarAway = 5;
  constexpr std::ptrdiff_t kFewOf = 4;
  const double farthest = kFarAway * std::max(common_spread, SpreadAround(rest, 0));
  const auto far = std::ranges::count_if(rest, [&](std::int64_t distance) {
    return static_cast<double>(std::abs(distance)) > farthest;
  });
  const bool few = far * kFewOf <= static_cast<std::ptrdiff_t>(rest.size());
  return few ? farthest : std::numeric_limits<double>::infinity();
}

// The squared standard deviation of a side's value: the median of its runs.
double SquaredNoise(const Flat& side, double slopes, double common_spread) {
  double squares = 0, freedoms = -slopes, weights = 0;
  for (const auto& rest : side.rest) {
    const double farthest = FarthestNoise(rest, common_spread);
    for (const std::int64_t step : rest) {
      const auto distance = static_cast<double>(std::abs(step));
      if (distance > farthest) continue;
      squares += distance * distance;
      ++freedoms;
    }
    --freedoms;
    weights += 1 / std::sqrt(static_cast<double>(rest.size()));
  }
  const auto runs = static_cast<double>(side.rest.size());
  return squares / std::max(freedoms, 1.0) * weights / (runs * runs);
}

std::size_t FewestSteps(const Runs& base, const Runs& comparison) {
  std::size_t fewest = base.front().size();
  for (const Runs* side : {&base, &comparison}) {
    for (const auto& steps : *side) fewest = std::min(fewest, steps.size());
  }
  return fewest;
}

class Fitting {
 public:
  Fitting(const Runs& base, const Runs& comparison)
      : base_(base),
        comparison_(comparison),
        last_(static_cast<double>(FewestSteps(base, comparison)) - 1),
        level_(Of(0, 0, 0)) {}

  Levels Best() const {
    const auto least_level =
        static_cast<double>(std::min(Median(level_.base.levels), Median(level_.comparison.levels)));
    if (last_ + 1 < kMinForDrift || least_level <= 0) return LevelsFrom(level_, level_);
    const double base_numbers = SpreadOfNumbers(base_), numbers = SpreadOfNumbers(comparison_);
    const auto part = [&](double slope) { return std::abs(slope) * last_ / least_level; };
    const auto clear = [&](double slope, double squared_error, const Fit& fit) {
      return part(slope) >= kMinDrift &&
             std::abs(slope) > kClearDrift * SpreadOf(fit) * std::sqrt(squared_error);
    };
    const double of_base = SlopeOf(base_), of_comparison = SlopeOf(comparison_);
    const Fit apart = Of(of_base, of_comparison, 1);
    if (part(of_base) <= kMaxDrift && part(of_comparison) <= kMaxDrift &&
        clear(of_comparison - of_base, 1 / base_numbers + 1 / numbers, apart)) {
      // What only one side does may be what is looked for: the values stay as they are.
      Levels levels = LevelsFrom(level_, apart);
      levels.drift = DriftOf(apart, of_base, of_comparison);
      return levels;
    }
    const double both = SlopeOf(base_, comparison_);
    const Fit together = Of(both, both, 0.5);
    if (part(both) <= kMaxDrift && clear(both, 1 / (base_numbers + numbers), together)) {
      Levels levels = LevelsFrom(together, together);
      levels.drift = DriftOf(together, both, both);
      return levels;
    }
    // Drift that is not clear moves no value, but is not noise either.
    return LevelsFrom(level_, SpreadOf(together) < SpreadOf(level_) ? together : level_);
  }

 private:
  Fit Of(double base, double comparison, double slopes) const {
    return {Flatten(base_, base, last_ / 2), Flatten(comparison_, comparison, last_ / 2), slopes};
  }

  static Levels LevelsFrom(const Fit& values, const Fit& noise) {
    Levels levels;
    levels.base_runs = values.base.levels;
    levels.comparison_runs = values.comparison.levels;
    levels.base = Median(levels.base_runs);
    levels.comparison = Median(levels.comparison_runs);
    const double spread = CommonSpread(noise);
    levels.noise = std::sqrt(SquaredNoise(noise.base, noise.slopes, spread) +
                             SquaredNoise(noise.comparison, noise.slopes, spread));
    return levels;
  }

  GateDrift DriftOf(const Fit& fit, double of_base, double of_comparison) const {
    const auto base = static_cast<double>(Median(fit.base.levels));
    const auto comparison = static_cast<double>(Median(fit.comparison.levels));
    const double base_end = base + of_base * last_ / 2;
    const double end = comparison + of_comparison * last_ / 2;
    return {.base = 100 * of_base / base,
            .comparison = 100 * of_comparison / comparison,
            .differs = of_base != of_comparison,
            .change_at_end = 100 * (end - base_end) / base_end};
  }

  const Runs& base_;
  const Runs& comparison_;
  double last_;  // the number of the last step that all runs have, from 0
  Fit level_;    // without drift
};

}  // namespace

Levels LevelsOf(const Runs& base, const Runs& comparison) {
  return Fitting(base, comparison).Best();
}

}  // namespace mpa::gate
