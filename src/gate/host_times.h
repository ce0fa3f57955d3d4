// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mpa/change/step_account.h"
#include "mpa/gate/run_summary.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/op_tree.h"
#include "mpa/model/rank_trace.h"

namespace mpa::gate {

/// How much of each window the intervals take, which are in order of their starts. Linear where
/// they are apart.
std::vector<TimeNs> LengthInWindows(const std::vector<Interval>& intervals,
                                    const std::vector<Interval>& windows);

/// The exposed communication of each window by the kind of collective that ran then; of several at
/// once the one that began first counts, so that the parts add up.
std::map<std::string, std::vector<TimeNs>> ExposedByKind(const RankTrace& trace,
                                                         const Intervals& exposed,
                                                         const std::vector<Interval>& windows);

/// Finds the judged step, counted from 0; empty where there is none.
struct StepFinder {
  std::function<std::optional<std::size_t>(TimeNs)> of_host;
  /// By the time of the launch and the start of the device work.
  std::function<std::optional<std::size_t>(TimeNs, TimeNs)> of_launched;
};

/// The tables of operators: device time of what each launched itself, host time without operators
/// within.
void AddOperators(const OpTree& ops, const StepFinder& find, StepTable& device, StepTable& host);
/// The device time of what was launched in modules and in none within, by the name of the module's
/// class and number: "Linear_0", in forward and backward pass.
void AddModules(const OpTree& ops, const StepFinder& find, StepTable& modules);

/// For each step the host time (kApi) or device time (kOp) of the operators that fit, with all
/// within them; operators within others that fit count once.
std::vector<TimeNs> SumOfOperators(const OpTree& ops, const StepFinder& find, std::size_t steps,
                                   const Metric& metric);
/// The same of the device time of modules.
std::vector<TimeNs> SumOfModules(const OpTree& ops, const StepFinder& find, std::size_t steps,
                                 const Metric& metric);

}  // namespace mpa::gate
