// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/compare/comparison.h"
#include "mpa/measure/overall_metrics.h"

namespace mpa {

/// What changed most: the change of the end-to-end time and of the median step, and what the latter
/// is made of by the account of both captures, as the gate shows it. As printed the lines of a
/// level add up to the one above. Lines have at most the width that the options say. Empty when a
/// side has no device activity.
std::vector<std::string> DescribeChanges(const CompareInput& input, const OverallMetrics& base,
                                         const OverallMetrics& comparison);

}  // namespace mpa
