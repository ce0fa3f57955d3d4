// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mpa/gate/run_summary.h"

namespace mpa::gate {

/// Standard deviations of runs of one program as a part of their median (0.003), by name of the
/// metric.
using NoiseFloors = std::map<std::string, double, std::less<>>;

/// Learned from runs of the same program, at least three. A metric that is 0 has no noise to learn.
NoiseFloors LearnNoise(const std::vector<RunSummary>& runs);

/// What is usual where nothing was learned, as it was measured on identical runs: 0.003 of a step,
/// 2.19 of free time, 0.11 of patterns whose time is below a hundredth of the step (`share` is the
/// metric's part of it).
double UsualNoise(const Metric& metric, double share);

/// The document that --noise reads. Throws Error (kCorrupt) that names the member.
nlohmann::json NoiseToJson(const NoiseFloors& floors, const std::string& tool_version,
                           std::size_t runs);
NoiseFloors NoiseFromJson(const nlohmann::json& document);

}  // namespace mpa::gate
