// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpa/gate/run_summary.h"
#include "mpa/report/change_tree.h"
#include "mpa/report/gate_report.h"

namespace mpa::gate {

/// What a change of the metric is made of: computing by kernels, communication by what it did and
/// for which operation, copies, free time by its cause. Where a baseline has no account: kernels by
/// type, exposed communication by kind, LCCL and free time. The last child of the whole is the
/// remainder, because medians of parts need not add up. Host calls up to `noise` (ns) are not a
/// cause. Without children for a metric that has no parts.
ChangeNode ChangeOf(const Metric& metric, const std::vector<RunSummary>& base,
                    const std::vector<RunSummary>& comparison, double noise);

/// What slows the jobs down on both sides, subtracted, as parts of the metric; of several runs of
/// those in the middle. Without children for other metrics than that of the step, and where a side
/// does not know its causes.
ChangeNode CausesOfChange(const Metric& metric, const std::vector<RunSummary>& base,
                          const std::vector<RunSummary>& comparison);

/// The kernels or types that fit the pattern of the metric. They may run at the same time.
ChangeNode ChangeOfFitting(const Metric& metric, const std::vector<RunSummary>& base,
                           const std::vector<RunSummary>& comparison);

/// Operators of the framework, by the device work they launched; the largest change first.
std::vector<ChangeNode> OperatorsOf(const std::vector<RunSummary>& base,
                                    const std::vector<RunSummary>& comparison);

/// What the host did longer while the device had nothing to do, the largest growth first, by more
/// than `noise` (ns). Where a baseline has no account: operators of the framework that took longer
/// on the host themselves.
std::vector<ChangeNode> HostCallsThatGrew(const std::vector<RunSummary>& base,
                                          const std::vector<RunSummary>& comparison, double noise);

/// Types of kernels and operators that runs have and `others` do not.
std::vector<std::string> NewNames(const std::vector<RunSummary>& runs,
                                  const std::vector<RunSummary>& others);

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
