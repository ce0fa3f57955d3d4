// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/compare/comparison.h"
#include "mpa/measure/overall_metrics.h"

namespace mpa {

/// What changed most: the change of the end-to-end time, and the parts that make up at least 80 %
/// of it, in order of their size. Where a few kernels and groups are not enough, larger parts are
/// listed, with the names within or the statement that they are spread. As printed the lines of a
/// level add up to the one above. Lines have at most the width that the options say. Empty when a
/// side has no device activity.
std::vector<std::string> Story(const CompareInput& input, const OverallMetrics& base,
                               const OverallMetrics& comparison);

}  // namespace mpa
