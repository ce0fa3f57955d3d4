// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "mpa/gate/run_summary.h"
#include "mpa/model/rank_trace.h"
#include "mpa/report/gate_report.h"

namespace mpa::gate {

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

}  // namespace mpa::gate
