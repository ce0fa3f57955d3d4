// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "mpa/gate/metric.h"
#include "mpa/gate/run_summary.h"
#include "mpa/report/gate_report.h"

namespace mpa::gate {

/// True where the times of the names that fit can be added.
bool AddsUp(const Metric& metric);

/// A metric judged without a limit.
using Watch = std::function<GateMetric(const Metric&)>;

/// Adds the headlines, and what the metric that decides (`leading`) is made of, to the report.
/// Another metric's parts would answer a question that nobody asked. `step`: the step, or the whole
/// capture without steps.
void Explain(const GateMetric& leading, const GateMetric& step, const Watch& watched,
             const std::vector<RunSummary>& base, const std::vector<RunSummary>& comparison,
             GateReport& report);

}  // namespace mpa::gate
