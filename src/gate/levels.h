// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "mpa/gate/run_summary.h"
#include "mpa/report/gate_report.h"

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

/// The metrics that a run has: those with samples, and the percentiles of the times of requests.
std::vector<Metric> MetricsOf(const RunSummary& run);

/// The samples of each run; empty when a run has none.
std::vector<std::vector<std::int64_t>> SamplesOf(const std::vector<RunSummary>& runs,
                                                 const Metric& metric);

/// The median of the runs' medians, of metrics that every run has.
std::map<Metric, std::int64_t> MediansOf(const std::vector<RunSummary>& runs);

/// The median over the runs of each name; 0 in runs without it.
Breakdown MedianBreakdown(const std::vector<RunSummary>& runs);

/// The samples of one metric: a run, and in it a value for each step (ns or bytes).
using Runs = std::vector<std::vector<std::int64_t>>;

/// What the steps of both sides show of one metric. This is the one definition of the value of a
/// run.
struct Levels {
  /// The median of each run's steps; where both sides have the same drift, of the steps as they
  /// would be in the middle of those that all runs have.
  std::vector<std::int64_t> base_runs, comparison_runs;
  std::int64_t base = 0, comparison = 0;  ///< the medians of these
  /// Empty: none is clear.
  std::optional<GateDrift> drift;
  /// Standard deviation of the difference (ns or bytes) as far as the steps show it: what differs
  /// from run to run is not in it. 0 with one step a run.
  double noise = 0;
};

/// Every run has a step at least.
Levels LevelsOf(const Runs& base, const Runs& comparison);

}  // namespace mpa::gate
