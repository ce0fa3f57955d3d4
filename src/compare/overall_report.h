// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/compare/comparison.h"
#include "mpa/measure/overall_metrics.h"

namespace mpa {

/// The sheet OverallMetrics of two captures. What a side does not tell is N/A, or 0 with --compat.
Sheet OverallSheet(const CompareInput& input, const OverallMetrics& base,
                   const OverallMetrics& comparison);

/// The same for the screen: the captures, and the parts of the end-to-end time with their changes,
/// in one unit and in lines of the width that the options say.
ScreenTable OverallScreen(const CompareInput& input, const OverallMetrics& base,
                          const OverallMetrics& comparison);

/// The screen where a side did nothing on the device: the captures, and that nothing is judged.
ScreenTable OverallWithoutWork(const CompareInput& input, const OverallMetrics& base,
                               const OverallMetrics& comparison);

/// The screen table "Model Profiling Time Distribution", one row for each side. `compat`: with the
/// columns and cells of the Python tool.
ScreenTable OverallWideScreen(const OverallMetrics& base, const OverallMetrics& comparison,
                              bool compat);

}  // namespace mpa
