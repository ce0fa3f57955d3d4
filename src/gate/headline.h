// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpa/report/change_tree.h"
#include "mpa/report/gate_report.h"

namespace mpa::gate {

/// "REGRESSION step_time 412.3 -> 431.0 ms (+4.5 %, limit 3 %, noise 0.6 %)"
std::string MetricLine(const GateMetric& metric);

/// Puts the line of the metric with its causes into the headlines: "...: +15.2 ms exposed
/// allreduce, +3.1 ms FlashAttentionScoreGrad, +0.4 ms other". What is printed of them adds up. The
/// short one leaves out causes before anything else.
void SetHeadline(const GateMetric& metric, const ChangeNode& change, GateReport& report);
/// The same with a text for both; the short headline ends with a part of the sentence.
void SetHeadline(std::string text, GateReport& report);

/// "NOT COMPARABLE world_size (8 / 4): ..." with what to do about it. `warmup`: the leading steps
/// that captures are judged without.
std::string MismatchLine(const std::vector<GateMismatch>& mismatches, std::size_t warmup);

}  // namespace mpa::gate
