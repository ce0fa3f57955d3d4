// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// Sets what "name=value,name=value" says; returns what is wrong with the text, or nothing.
std::string SetThresholds(std::string_view text, Thresholds& thresholds);

struct AdviceRow {
  std::string rule;    ///< "non_contiguous_inputs"
  std::string owner;   ///< whom to ask
  std::string text;    ///< what was measured, and what to do
  std::string metric;  ///< what `value` and `threshold` are
  double value = 0, threshold = 0;
  std::int64_t calls = 0;
  std::string scope = "all";
  Severity severity = Severity::kWarn;
  std::string part{};           ///< the part of steady heads that it is about; empty: none of these
  MaybeNs cost{};               ///< time of the host, in all calls
  MaybeNs gain{};               ///< of it the device was idle: at most this can be gained
  MaybeNs exposed_per_step{};   ///< the gain, for each step with such calls
  bool is_compilation = false;  ///< a cost of compiling or loading, not of steady calls
};

/// Appends advice on the whole capture; the caller may say more of it.
AdviceRow& AddAdvice(std::string_view rule, std::string_view owner, std::string text,
                     std::string_view metric, double value, double threshold, std::size_t calls,
                     std::vector<AdviceRow>& rows);

/// What advice is given from. Summary and children are those of `scopes`.
struct AdviceInput {
  const std::vector<Call>& calls;
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
/// The rules on the steady calls of one graph, of which these rows are.
void AdviseOnGraph(const AdviceInput& input, const Scope& scope,
                   std::span<const SummaryRow> summary, std::span<const ChildRow> children,
                   std::vector<AdviceRow>& rows);

// Whom to ask.
inline constexpr std::string_view kPlatform = InfoOf(Measure::kPlatform).owner;
inline constexpr std::string_view kPyTorch = "PyTorch Dynamo";
inline constexpr std::string_view kScript = "script";
inline constexpr std::string_view kTorchAir = "TorchAir: Ascend technical support";
inline constexpr std::string_view kGe = "GE: Ascend technical support";

}  // namespace mpa::head
