// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "mpa/gate/judge.h"

namespace mpa::gate {

/// Adds what a document of --gate says to the settings:
/// {"metrics": [{"metric": "step_time", "limit": "+3%", "min_abs": "1ms", "min_share": "0.5%"}],
///  "min_abs": "20us,1MB", "min_share": "0.1%", "min_steps": 3, "warmup": 1}
/// Throws Error (kUsage) that names the member; unknown ones are errors, too.
void ApplyGateFile(const nlohmann::json& document, GateSettings& settings);

/// The floors that "20us", "16MB" or both with a comma between them name. Throws Error (kUsage).
void ApplyMinAbs(std::string_view text, GateSettings& settings);
/// "0.5%". Throws Error (kUsage).
double ParseMinShare(std::string_view text);

}  // namespace mpa::gate
