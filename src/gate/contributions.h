// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/gate/run_summary.h"
#include "mpa/report/gate_report.h"

namespace mpa::gate {

/// What a change of the metric is made of, the largest part first: kernels by type, communication
/// by what it did and for which operation, copies, free time by its cause. Where a baseline has no
/// account: kernels by type, exposed communication by kind, LCCL and free time. The last one is the
/// remainder, and all add up to the change. Parts that did not change are left out. Empty for a
/// metric that has no parts.
std::vector<GatePart> PartsOf(const Metric& metric, const std::vector<RunSummary>& base,
                              const std::vector<RunSummary>& comparison);

/// The kernels or types that fit the pattern of the metric, the largest change first. They may run
/// at the same time.
std::vector<GatePart> PartsFitting(const Metric& metric, const std::vector<RunSummary>& base,
                                   const std::vector<RunSummary>& comparison);

/// Operators of the framework, by the device work they launched; the largest change first.
std::vector<GatePart> OperatorsOf(const std::vector<RunSummary>& base,
                                  const std::vector<RunSummary>& comparison);

/// What the host did longer while the device had nothing to do, the largest growth first. Where a
/// baseline has no account: operators of the framework that took longer on the host themselves.
std::vector<GatePart> HostCallsThatGrew(const std::vector<RunSummary>& base,
                                        const std::vector<RunSummary>& comparison);

/// Types of kernels and operators that runs have and `others` do not.
std::vector<std::string> NewNames(const std::vector<RunSummary>& runs,
                                  const std::vector<RunSummary>& others);

}  // namespace mpa::gate
