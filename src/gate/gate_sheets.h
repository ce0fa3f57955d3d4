// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "mpa/report/report.h"

namespace mpa::gate {

inline constexpr std::string_view kMetricsSheet = "Metrics", kExplanationSheet = "Explanation";

/// The first sheet of the workbook: the verdict, the metrics with links to their rows, and what
/// changed most with links to the rows of the explanation.
WorkbookSummary SummariseGate(const GateReport& gate);

}  // namespace mpa::gate
