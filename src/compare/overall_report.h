// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

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

/// What changed most: the change of the end-to-end time and of the median step, and what the latter
/// is made of by the account of both captures, as the gate shows it. As printed the lines of a
/// level add up to the one above. Lines have at most the width that the options say. Empty when a
/// side has no device activity.
std::vector<std::string> DescribeChanges(const CompareInput& input, const OverallMetrics& base,
                                         const OverallMetrics& comparison);

}  // namespace mpa
