// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mpa/report/gate_report.h"

namespace mpa::gate {

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
