// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/gate/run_summary.h"
#include "mpa/report/change_tree.h"

namespace mpa::gate {

/// What a change of the metric is made of: computing by kernels, communication by what it did and
/// for which operation, copies, free time by its cause. Where a baseline has no account: kernels by
/// type, exposed communication by kind, LCCL and free time. The last child of the whole is the
/// remainder, because medians of parts need not add up. Host calls up to `noise` (ns) are not a
/// cause. Without children for a metric that has no parts.
ChangeNode ChangeOf(const Metric& metric, const std::vector<RunSummary>& base,
                    const std::vector<RunSummary>& comparison, double noise);

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

}  // namespace mpa::gate
