// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/report/gate_report.h"

namespace mpa::gate {

/// "REGRESSION step_time 412.3 -> 431.0 ms (+4.5 %, limit 3 %, noise 0.6 %): +15.2 ms exposed
/// allreduce, +3.1 ms FlashAttentionScoreGrad, +0.4 ms other". `parts` are the causes, the largest
/// first; what is printed of them adds up.
std::string MetricLine(const GateMetric& metric, const std::vector<GatePart>& parts);

/// "NOT COMPARABLE world_size (8 / 4): ..."
std::string MismatchLine(const std::vector<GateMismatch>& mismatches);

}  // namespace mpa::gate
