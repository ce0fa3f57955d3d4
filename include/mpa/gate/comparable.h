// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/gate/run_summary.h"
#include "mpa/model/rank_trace.h"
#include "mpa/report/gate_report.h"

namespace mpa::gate {

/// The fields in which both sides have to agree, by name, which are those of --allow_mismatch.
std::span<const std::string_view> MismatchFields();

/// The key of ShapeCounts for a kernel; empty when its shapes are unknown.
std::string ShapeOf(const RankTrace& trace, std::size_t kernel);
ShapeCounts CountShapes(const RankTrace& trace);

/// The facts in which a run differs from the first base run, each named once with the first value
/// that differs. What one of them does not tell is not compared. Shapes of kernels differ
/// ("shapes") when less than half of the kernels are alike on both sides: another model or batch
/// size.
std::vector<GateMismatch> FindMismatches(const std::vector<RunSummary>& base,
                                         const std::vector<RunSummary>& comparison,
                                         const std::set<std::string>& allowed);

/// "world_size (8 / 4), profiler_level (Level1 / Level0)": base and comparison of those that are
/// not allowed.
std::string MismatchText(const std::vector<GateMismatch>& mismatches);

/// The part of the kernels that both have, from 0 to 1: their shares of all kernels are compared.
double ShapesInCommon(const ShapeCounts& base, const ShapeCounts& comparison);

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
