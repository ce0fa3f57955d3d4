// SPDX-License-Identifier: Apache-2.0
#include "explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "contributions.h"
#include "decision.h"
#include "headline.h"
#include "mpa/change/account_names.h"

namespace mpa::gate {
namespace {

// True for what has no parts but itself, which need not be said twice.
bool IsOnePart(const Metric& metric, const ChangeNode& change) {
  if (metric.kind == MetricKind::kLccl) return true;
  return metric.kind == MetricKind::kFree &&
         std::none_of(change.children.begin(), change.children.end(),
                      [](const ChangeNode& part) { return !part.leaf.empty(); });
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
  const bool free = part.name == kFreeTime || part.leaf.starts_with("free.");
  return free && part.Change() > 0 && !part.is_noise;
}

// Where a baseline has no account, nothing says which call is behind which part of the free time.
void AddCauseOfFreeTime(const std::vector<ChangeNode>& calls, ChangeNode& node) {
  for (ChangeNode& child : node.children) AddCauseOfFreeTime(calls, child);
  if (node.children.empty() && node.leaf.empty() && IsGrownFreeTime(node) && !calls.empty()) {
    node.cause = "on the host " + CallsText(calls);
  }
}

}  // namespace

bool AddsUp(const Metric& metric) {
  return metric.kind == MetricKind::kKernel ||
         (metric.kind == MetricKind::kOp && !IsFrameworkOp(metric));
}

void Explain(const GateMetric& leading, const GateMetric& step, const Watch& watched,
             const std::vector<RunSummary>& base, const std::vector<RunSummary>& comparison,
             GateReport& report) {
  for (ChangeNode& part : report.operators) {
    part.is_noise = std::abs(static_cast<double>(part.Change())) <= step.noise;
  }
  const bool counts = leading.quantity == Quantity::kCount;
  std::vector<Metric> candidates = {{MetricKind::kStepTime, ""}, {MetricKind::kE2e, ""}};
  if (!counts) candidates.insert(candidates.begin(), ParseMetric(leading.name));
  for (const Metric& metric : candidates) {
    report.change = ChangeOf(metric, base, comparison, step.noise);
    if (report.change.children.empty()) continue;
    const GateMetric whole = watched(metric);
    if (whole.verdict != GateVerdict::kInconclusive) MarkNoise(whole, report.change);
    break;
  }
  const std::vector<ChangeNode> parts = LeavesOf(report.change);
  if (std::any_of(parts.begin(), parts.end(), IsGrownFreeTime)) {
    report.host_calls = HostCallsThatGrew(base, comparison, step.noise);
    AddCauseOfFreeTime(report.host_calls, report.change);
  }
  SetHeadline(leading.line + (counts && !leading.reason.empty() ? ": " + leading.reason : ""),
              report);
  if (counts || leading.verdict == GateVerdict::kOk) return;
  const Metric& metric = candidates.front();
  const bool one_part = IsOnePart(metric, report.change);
  if (AddsUp(metric)) {
    SetHeadline(leading, ChangeOfFitting(metric, base, comparison), report);
  } else if (one_part && metric.kind == MetricKind::kFree && !report.host_calls.empty()) {
    SetHeadline(leading.line + ": on the host " + CallsText(report.host_calls), report);
  } else if (report.change.name == leading.name && !one_part) {
    SetHeadline(leading, report.change, report);
  }
}

}  // namespace mpa::gate
