// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "levels.h"
#include "mpa/gate/metric.h"
#include "mpa/report/gate_report.h"

namespace mpa::gate {

/// A change counts when it is larger than the noise so many times.
inline constexpr double kNoiseFactor = 3;
/// Where only the steps show the noise, growth has to exceed the limit by this part of it: how runs
/// differ is not seen there.
inline constexpr double kMarginOfNoise = 1.0 / 3;

/// A change that is larger than the noise so many times is no luck.
inline constexpr double kLuckFactor = 5;
/// So many runs in all show how runs differ.
inline constexpr std::size_t kManyRuns = 10;

/// What has to be exceeded beside the limit of the rule.
struct Floors {
  std::int64_t min_abs = 0;     ///< ns or bytes
  std::int64_t min_share = 0;   ///< ns or bytes: the share of the step that counts
  std::size_t min_samples = 1;  ///< in each run
  /// Noise as a part of the base (0.003), known from elsewhere. The first is used where fewer than
  /// three runs a side leave open how runs differ, the second always.
  double usual_noise = 0, learned_noise = 0;
  /// What sets the floors, as messages name it.
  std::string_view min_abs_option = "--min_abs", min_share_option = "--min_share";
};

/// One-sided: does the metric grow, by more than
/// - the limit of the rule, with fewer than four runs by a third of the noise,
/// - both floors,
/// - three times the noise, which is the spread of the runs, or where there are fewer than four of
///   them what the steps show (Levels::noise) and how runs usually differ,
/// and, with three runs a side or more, by more than chance would do in 1 of 20 divisions of the
/// runs (RankSumProbability; at three against three all runs have to lie above the others)?
/// Growth above the limit that is not above all of the others is undecided, and the reason says
/// what would decide it. A fall beyond floors, noise and chance is an improvement; a rule without a
/// limit judges nothing else. Quantities that are missing or too few make the result inconclusive.
GateMetric Decide(const Rule& rule, const Floors& floors, const Runs& base, const Runs& comparison);

}  // namespace mpa::gate
