// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "call_children.h"
#include "mpa/report/report.h"
#include "summary.h"

namespace mpa::head {

/// From where on something is worth advice. The defaults are proposals that no measurement backs.
struct Thresholds {
  double segment_share = 20;      ///< % of the head: a segment matters from there
  double segment_step_share = 5;  ///< % of the step, likewise
  double exposed_step_share = 1;  ///< % of the step: below, the head is hidden by device work
  double lookup_us = 300;         ///< p50 of Dynamo's lookup
  double calls_per_region = 4;    ///< more are a piecewise compiled model
  double built_tensors = 8;       ///< for each call
  double built_us = 50;           ///< for each call
  double contiguous_us = 20;      ///< for each call
  double outlier_ratio = 5;       ///< p90 of the head to its p50
};

/// A threshold by its name on the command line.
struct ThresholdName {
  std::string_view name;
  double Thresholds::*value;
};
const std::vector<ThresholdName>& AllThresholds();

/// Sets what "name=value,name=value" says; returns what is wrong with the text, or nothing.
std::string SetThresholds(std::string_view text, Thresholds& thresholds);

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
