// SPDX-License-Identifier: Apache-2.0
// The verdict on one metric.
#include "decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/text.h"

namespace mpa::gate {
namespace {

constexpr std::size_t kRunsForTest = 3;
// At three runs a side the smallest probability that there is: 1 of the 20 divisions.
constexpr double kSignificant = 0.05;

std::size_t FewestSamples(const Runs& runs) {
  std::size_t fewest = runs.empty() ? 0 : runs.front().size();
  for (const auto& samples : runs) fewest = std::min(fewest, samples.size());
  return fewest;
}

// Fewer runs leave open how they differ: the steps have to show the noise.
bool HasFewRuns(const GateMetric& judged) {
  constexpr std::size_t kMinRuns = 4;
  return judged.base_runs.size() + judged.comparison_runs.size() < kMinRuns;
}

// The standard deviation of a run's median, or with few runs of the difference.
double Noise(const GateMetric& judged, const Floors& floors, double of_steps) {
  const double middle = std::abs(static_cast<double>(judged.base));
  const double learned = floors.learned_noise * middle;
  const double usual = judged.low_confidence ? floors.usual_noise * middle : 0;
  if (HasFewRuns(judged)) return std::max(std::hypot(of_steps, usual), learned);
  const auto freedoms =
      static_cast<double>(judged.base_runs.size() + judged.comparison_runs.size() - 2);
  const double squares =
      SquaredDistances(judged.base_runs) + SquaredDistances(judged.comparison_runs);
  return std::max({std::sqrt(squares / freedoms), usual, learned});
}

// True where the noise is what --noise says, which further runs do not lower.
bool IsLearned(const GateMetric& judged, const Floors& floors) {
  const double middle = std::abs(static_cast<double>(judged.base));
  return floors.learned_noise > 0 && judged.noise <= floors.learned_noise * middle;
}

// Of the limits that are given all are exceeded.
bool Exceeds(const Limit& limit, double base, double growth) {
  if (!limit.percent && !limit.amount) return false;
  if (limit.percent && growth <= *limit.percent / 100 * base) return false;
  return !limit.amount || growth > static_cast<double>(*limit.amount);
}

// Why a difference of this size (above 0) does not count, and what would decide it; empty when it
// does count.
std::string Doubt(const GateMetric& judged, const Limit& limit, const Floors& floors, double size) {
  const auto amount = [&](std::int64_t value) { return AmountText(judged.quantity, value); };
  if (size <= static_cast<double>(floors.min_abs)) {
    return Say("not above the floor of {}; a smaller {} decides", amount(floors.min_abs),
               Translated(floors.min_abs_option));
  }
  if (size <= static_cast<double>(floors.min_share)) {
    return Say("not above the smallest share of the step that counts, {}; a smaller {} decides",
               amount(floors.min_share), Translated(floors.min_share_option));
  }
  const std::string_view more_runs = Translated(
      judged.low_confidence
          ? "three runs a side decide (-d and -bp three times each), or learned noise (--noise)"
          : "more runs decide (-d and -bp given more often)");
  if (size <= kNoiseFactor * judged.noise) {
    return Say("not above three times the noise, {}; {}",
               amount(std::llround(kNoiseFactor * judged.noise)),
               IsLearned(judged, floors)
                   ? Translated("only a limit above it decides, since --noise says how runs differ")
                   : more_runs);
  }
  const double margin = HasFewRuns(judged) ? kMarginOfNoise * judged.noise : 0;
  if (judged.Change() > 0 && !Exceeds(limit, static_cast<double>(judged.base), size - margin)) {
    return Say("above the limit by less than a third of the noise, {}; {}",
               amount(std::llround(margin)), more_runs);
  }
  if (judged.probability && *judged.probability > kSignificant) {
    return Say("the runs of both sides overlap; {}", more_runs);
  }
  return "";
}

// A fall up to this may be luck of a few runs. The baseline that it became would be below what the
// program takes, and one lucky run after the other would move it further. So what is saved is
// clearer than what is reported, and what runs usually differ by counts for any number of them.
double LuckOf(const GateMetric& judged, const Floors& floors) {
  // Machines differ: one or two runs do not show by how much, and three show it badly.
  constexpr double kUnseen = 3, kBadlySeen = 2;
  constexpr double kLeastOfTimes = 0.003, kLeastOfSizes = 0.001;
  if (floors.learned_noise > 0) return kLuckFactor * judged.noise;
  const double least = judged.quantity == Quantity::kTime ? kLeastOfTimes : kLeastOfSizes;
  const bool are_few = judged.base_runs.size() + judged.comparison_runs.size() < kManyRuns;
  const double unseen = judged.low_confidence ? kUnseen : are_few ? kBadlySeen : 1;
  // Of communication, copies and patterns nobody knows what is usual.
  if (are_few && judged.quantity == Quantity::kTime && floors.usual_noise == 0)
    return std::numeric_limits<double>::infinity();
  const double usual = std::max(floors.usual_noise, least) * unseen;
  return kLuckFactor * std::max(judged.noise, usual * std::abs(static_cast<double>(judged.base)));
}

std::string Missing(const Floors& floors, const Runs& base, const Runs& comparison) {
  for (const auto& [runs, side] : {std::pair{&base, "base"}, {&comparison, "comparison"}}) {
    const std::size_t fewest = FewestSamples(*runs);
    if (fewest == 0) return Say("the {} has no values for it", Translated(side));
    if (fewest < floors.min_samples) {
      return Say("a run of the {} has {}, {} are needed (--min_steps)", Translated(side),
                 Counted(static_cast<std::int64_t>(fewest), "step"), floors.min_samples);
    }
  }
  return "";
}

}  // namespace

GateMetric Decide(const Rule& rule, const Floors& floors, const Runs& base,
                  const Runs& comparison) {
  GateMetric judged;
  judged.name = NameOf(rule.metric);
  judged.quantity = QuantityOf(rule.metric.kind);
  judged.limit = LimitText(rule.limit, judged.quantity);
  judged.reason = Missing(floors, base, comparison);
  if (!judged.reason.empty()) judged.verdict = GateVerdict::kInconclusive;
  if (FewestSamples(base) == 0 || FewestSamples(comparison) == 0) return judged;
  Levels levels = LevelsOf(base, comparison);
  judged.base_runs = std::move(levels.base_runs);
  judged.comparison_runs = std::move(levels.comparison_runs);
  judged.base = levels.base;
  judged.comparison = levels.comparison;
  if (judged.verdict == GateVerdict::kInconclusive) return judged;
  judged.low_confidence = std::min(base.size(), comparison.size()) < kRunsForTest;
  judged.drift = levels.drift;
  judged.noise = Noise(judged, floors, levels.noise);
  judged.luck = LuckOf(judged, floors);

  const auto growth = static_cast<double>(judged.Change());
  if (!judged.low_confidence) {
    judged.probability = growth < 0 ? RankSumProbability(judged.comparison_runs, judged.base_runs)
                                    : RankSumProbability(judged.base_runs, judged.comparison_runs);
  }
  const bool exceeds = growth > 0 && Exceeds(rule.limit, static_cast<double>(judged.base), growth);
  if (!exceeds && growth >= 0) return judged;
  const std::string doubt = Doubt(judged, rule.limit, floors, std::abs(growth));
  if (growth < 0) {
    if (doubt.empty()) judged.verdict = GateVerdict::kImproved;
  } else if (doubt.empty()) {
    judged.verdict = GateVerdict::kRegression;
  } else {
    judged.verdict = GateVerdict::kUndecided;
    judged.reason = doubt;
  }
  return judged;
}

}  // namespace mpa::gate
