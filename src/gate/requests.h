// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/gate/metric.h"
#include "mpa/gate/run_summary.h"

/// Requests of a server: a run has a time of each of them, and a metric is a percentile of these.
namespace mpa::gate {

/// The value of the metric in a run; empty: the run has no such times.
std::vector<std::int64_t> ValueOfRequests(const RunSummary& run, const Metric& metric);

/// What the value of one run against one may differ by though nothing changed, as a part of that of
/// the base: one standard deviation, as the requests of both show it.
double NoiseOfRequests(const std::vector<RunSummary>& base,
                       const std::vector<RunSummary>& comparison, const Metric& metric);

/// The least number of requests in a run.
std::size_t FewestRequests(const std::vector<RunSummary>& runs, const Metric& metric);

/// Adds the times of the requests of several instances.
void AddRequests(const std::vector<RankSummary>& servers, Samples& samples);

}  // namespace mpa::gate
