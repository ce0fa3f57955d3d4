// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "mpa/gate/run_summary.h"

namespace mpa::gate {

/// The samples of each run; empty when a run has none.
std::vector<std::vector<std::int64_t>> SamplesOf(const std::vector<RunSummary>& runs,
                                                 const Metric& metric);

/// The median of the runs' medians, of metrics that every run has.
std::map<Metric, std::int64_t> MediansOf(const std::vector<RunSummary>& runs);

/// The median over the runs of each name; 0 in runs without it.
Breakdown MedianBreakdown(const std::vector<RunSummary>& runs);

}  // namespace mpa::gate
