// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/analysis/comparison.h"
#include "overall_metrics.h"

namespace mpa {

/// The sheet OverallMetrics of two captures. Durations of a side that tells no categories are N/A.
Sheet OverallSheet(const CompareInput& input, const OverallMetrics& base,
                   const OverallMetrics& comparison);

/// The screen table "Model Profiling Time Distribution", one row for each side.
ScreenTable OverallScreen(const OverallMetrics& base, const OverallMetrics& comparison);

}  // namespace mpa
