// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpa/gate/run_summary.h"
#include "mpa/report/gate_report.h"

namespace mpa::gate {

/// How many leading steps are outliers: each takes longer than the median of the later ones by more
/// than a tenth of it, and by more than five times the spread of these. At least `min_steps`, and
/// three, stay; no more than two of them are warm-up, or a quarter of the steps.
std::size_t CountWarmup(const std::vector<std::int64_t>& step_times, std::size_t min_steps);

/// Leaves the leading steps out that are warm-up in any of the runs, in all of them: the same steps
/// stay on both sides. As far as every run has the steps for that. Empty: nothing was left out.
std::optional<GateWarmup> LeaveOutWarmup(std::size_t min_steps, std::vector<RunSummary>& base,
                                         std::vector<RunSummary>& comparison);

/// What to try where the first step of a run takes a fifth longer than the later ones, but was not
/// recognised as warm-up: there are too few steps, or the others differ as much. Empty elsewhere.
std::string WarmupHint(std::size_t min_steps, const std::vector<RunSummary>& base,
                       const std::vector<RunSummary>& comparison);

}  // namespace mpa::gate
