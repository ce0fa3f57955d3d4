// SPDX-License-Identifier: Apache-2.0
// What the difference that a gate decides on is made of.
#include "explain.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "contributions.h"
#include "decision.h"
#include "levels.h"
#include "mpa/base/language.h"
#include "mpa/change/account_names.h"
#include "mpa/change/job_causes.h"

namespace mpa::gate {
namespace {

// True for what has no parts but itself, which need not be said twice.
bool IsOnePart(const Metric& metric, const ChangeNode& change) {
  if (metric.kind == MetricKind::kLccl) return true;
  return metric.kind == MetricKind::kFree &&
         std::ranges::none_of(change.children,
                              [](const ChangeNode& part) { return !part.category.empty(); });
}

// Changes up to the noise of the whole are noise, and all of them where it did not change itself.
void MarkNoise(double noise, bool all, ChangeNode& node) {
  node.is_noise = all || std::abs(static_cast<double>(node.Change())) <= noise;
  for (ChangeNode& child : node.children) MarkNoise(noise, all, child);
}

void MarkNoise(const GateMetric& whole, ChangeNode& change) {
  const bool changed = std::abs(static_cast<double>(whole.Change())) > kNoiseFactor * whole.noise;
  MarkNoise(whole.noise, !changed, change);
}

bool IsGrownFreeTime(const ChangeNode& part) {
  const bool free = part.name == kFreeTime || part.category.starts_with("free.");
  return free && part.Change() > 0 && !part.is_noise;
}

// Where a baseline has no account, nothing says which call is behind which part of the free time.
void AddCauseOfFreeTime(const std::vector<ChangeNode>& calls, ChangeNode& node) {
  for (ChangeNode& child : node.children) AddCauseOfFreeTime(calls, child);
  if (node.children.empty() && node.category.empty() && IsGrownFreeTime(node) && !calls.empty()) {
    node.cause = Say("on the host {}", CallsText(calls));
  }
}

}  // namespace

void Explain(const GateMetric& leading, const GateMetric& step, const Watch& watched,
             const std::vector<RunSummary>& base, const std::vector<RunSummary>& comparison,
             GateReport& report) {
  for (ChangeNode& part : report.operators) {
    part.is_noise = std::abs(static_cast<double>(part.Change())) <= step.noise;
  }
  const bool counts = leading.quantity == Quantity::kCount;
  SetHeadline(leading.line + (counts && !leading.reason.empty() ? ": " + leading.reason : ""),
              report);
  if (counts) return;
  const Metric metric = ParseMetric(leading.name);
  ChangeNode fitting;  // kernels or types of operators that the metric adds up
  if (AddsUp(metric)) {
    fitting = ChangeOfFitting(metric, base, comparison);
    if (fitting.children.size() > 1) report.change = fitting;  // one alone is the metric itself
  } else {
    report.change = ChangeOf(metric, base, comparison, step.noise);
  }
  const bool has_parts = !report.change.children.empty();
  if (has_parts) {
    const GateMetric whole = watched(metric);
    if (whole.verdict != GateVerdict::kInconclusive) MarkNoise(whole, report.change);
  }
  const std::vector<ChangeNode> parts = CategoriesOf(report.change);
  if (std::ranges::any_of(parts, IsGrownFreeTime)) {
    report.host_calls = HostCallsThatGrew(base, comparison, step.noise);
    AddCauseOfFreeTime(report.host_calls, report.change);
  }
  // Only what was decided has causes.
  if (leading.verdict != GateVerdict::kRegression && leading.verdict != GateVerdict::kImproved)
    return;
  report.causes = CausesOfChange(metric, base, comparison);
  const bool one_part = IsOnePart(metric, report.change);
  if (AddsUp(metric)) {
    SetHeadline(leading, fitting, report);
  } else if (ExplainsMost(report.causes)) {
    SetHeadline(leading, report.causes, report);
  } else if (one_part && metric.kind == MetricKind::kFree && !report.host_calls.empty()) {
    SetHeadline(Say("{}: on the host {}", leading.line, CallsText(report.host_calls)), report);
  } else if (has_parts && !one_part) {
    SetHeadline(leading, report.change, report);
  }
}

bool AddsUp(const Metric& metric) {
  return metric.kind == MetricKind::kKernel ||
         (metric.kind == MetricKind::kOp && !IsFrameworkOp(metric));
}

}  // namespace mpa::gate
