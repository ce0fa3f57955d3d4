// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/compare/comparison.h"
#include "mpa/measure/overall_metrics.h"

namespace mpa {

/// What changed most, in at most five lines: the change of the end-to-end time, the largest parts
/// of it in order of their size, and what all other parts add up to. The parts are those of
/// OverallMetrics, computing time by kernel type, exposed communication by group; as printed they
/// add up to the first line. Empty when a side has no device activity.
std::vector<std::string> Story(const CompareInput& input, const OverallMetrics& base,
                               const OverallMetrics& comparison);

}  // namespace mpa
