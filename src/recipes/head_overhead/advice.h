// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "child_sums.h"
#include "mpa/report/report.h"
#include "summary.h"
#include "thresholds.h"

namespace mpa::head {

struct AdviceRow {
  std::string rule;  ///< "non_contiguous_inputs"
  Severity severity = Severity::kWarn;
  std::string scope;
  std::string owner;   ///< whom to ask
  std::string text;    ///< what was measured, and what to do
  std::string metric;  ///< what `value` and `threshold` are
  double value = 0, threshold = 0;
  std::string part;             ///< the part of steady heads that it is about; empty: none of these
  MaybeNs cost;                 ///< time of the host, in all calls
  MaybeNs gain;                 ///< of it the device was idle: at most this can be gained
  MaybeNs exposed_per_step;     ///< the gain, for each step with such calls
  bool is_compilation = false;  ///< a cost of compiling or loading, not of steady calls
  std::int64_t calls = 0;
};

/// What advice is given from. Summary and children are those of `scopes`.
struct AdviceInput {
  const std::vector<Call>& calls;
  const std::vector<std::string>& graphs;
  const std::vector<Scope>& scopes;
  const std::vector<SummaryRow>& summary;
  const std::vector<ChildRow>& children;
  const Thresholds& thresholds;
  TimeNs step_time = 0;  ///< of all steps with calls
};

/// What to do, and who: on steady calls of each graph, some rules on all calls. What can gain most
/// comes first; without a device, what costs most. A part of the head for which the device waits
/// longer than any rule explains has a row, too. When the device hardly waits for the head of
/// steady calls, a row says so, and advice on these is for information only.
std::vector<AdviceRow> GiveAdvice(const AdviceInput& input);

/// The part of `sum` that each step with calls has; empty without steps.
MaybeNs PerStep(const AdviceInput& input, TimeNs sum);

/// The rules on all calls of a rank together: compilations, reloads, graphs in pieces.
void AdviseOnCapture(const AdviceInput& input, std::vector<AdviceRow>& rows);

}  // namespace mpa::head
