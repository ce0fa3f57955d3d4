// SPDX-License-Identifier: Apache-2.0
#include "explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "contributions.h"
#include "decision.h"
#include "headline.h"

namespace mpa::gate {
namespace {

// True for what has no parts but itself, which need not be said twice.
bool IsOnePart(const Metric& metric, const std::vector<GatePart>& parts) {
  if (metric.kind == MetricKind::kLccl) return true;
  return metric.kind == MetricKind::kFree &&
         std::none_of(parts.begin(), parts.end(),
                      [](const GatePart& part) { return !part.leaf.empty(); });
}

// Changes up to the noise of the whole are noise, and all of them where it did not change itself.
void MarkNoise(const GateMetric& whole, std::vector<GatePart>& parts) {
  const double change = std::abs(static_cast<double>(whole.Change()));
  const bool changed = change > kNoiseFactor * whole.noise;
  for (GatePart& part : parts) {
    part.is_noise = !changed || std::abs(static_cast<double>(part.Change())) <= whole.noise;
  }
}

// "aten::item +4.000 ms": what grew most, of the leaf if it is given.
std::string OnTheHost(const std::vector<GatePart>& calls, std::string_view leaf = "") {
  constexpr std::size_t kMostNamed = 2;
  std::vector<std::string> named;
  for (const GatePart& call : calls) {
    if (named.size() == kMostNamed) break;
    if (!leaf.empty() && call.leaf != leaf) continue;
    named.push_back(fmt::format("{} +{}", call.name, AmountText(Quantity::kTime, call.Change())));
  }
  return fmt::format("{}", fmt::join(named, ", "));
}

bool IsFreeTime(const GatePart& part) {
  return part.name == kFreeTime || part.leaf.starts_with("free.");
}

// What the host did longer while the device had more free time.
std::vector<GatePart> CallsBehindFreeTime(const GateReport& report, const GateMetric& step,
                                          const std::vector<RunSummary>& base,
                                          const std::vector<RunSummary>& comparison) {
  const bool grew = std::any_of(
      report.contributions.begin(), report.contributions.end(),
      [](const GatePart& part) { return IsFreeTime(part) && part.Change() > 0 && !part.is_noise; });
  if (!grew) return {};
  std::vector<GatePart> calls = HostCallsThatGrew(base, comparison);
  std::erase_if(calls, [&](const GatePart& call) {
    return static_cast<double>(call.Change()) <= step.noise;
  });
  return calls;
}

std::string HeadlineOf(const GateMetric& leading, const GateReport& report) {
  std::vector<GatePart> parts = report.contributions;
  for (GatePart& part : parts) {
    if (!IsFreeTime(part) || part.Change() <= 0) continue;
    const std::string calls = OnTheHost(report.host_calls, part.leaf);
    if (calls.empty()) continue;
    // "free time (scalar reads: aten::item at train.py:90 +5.000 ms)"
    if (part.leaf.empty()) {
      part.name += fmt::format(" (on the host {})", calls);
    } else {
      part.name.insert(part.name.size() - 1, ": " + calls);
    }
  }
  return MetricLine(leading, parts);
}

}  // namespace

bool AddsUp(const Metric& metric) {
  return metric.kind == MetricKind::kKernel ||
         (metric.kind == MetricKind::kOp && !IsFrameworkOp(metric));
}

void Explain(const GateMetric& leading, const GateMetric& step, const Watch& watched,
             const std::vector<RunSummary>& base, const std::vector<RunSummary>& comparison,
             GateReport& report) {
  report.headline = leading.line;
  for (GatePart& part : report.operators) {
    part.is_noise = std::abs(static_cast<double>(part.Change())) <= step.noise;
  }
  std::vector<Metric> candidates = {{MetricKind::kStepTime, ""}, {MetricKind::kE2e, ""}};
  if (leading.quantity == Quantity::kCount) {
    if (!leading.reason.empty()) report.headline += ": " + leading.reason;
  } else {
    candidates.insert(candidates.begin(), ParseMetric(leading.name));
  }
  for (const Metric& metric : candidates) {
    report.contributions = PartsOf(metric, base, comparison);
    if (report.contributions.empty()) continue;
    report.explained = NameOf(metric);
    const GateMetric whole = watched(metric);
    if (whole.verdict != GateVerdict::kInconclusive) MarkNoise(whole, report.contributions);
    break;
  }
  report.host_calls = CallsBehindFreeTime(report, step, base, comparison);
  if (leading.quantity == Quantity::kCount || leading.verdict == GateVerdict::kOk) return;
  const Metric& metric = candidates.front();
  const bool one_part = IsOnePart(metric, report.contributions);
  if (AddsUp(metric)) {
    report.headline = MetricLine(leading, PartsFitting(metric, base, comparison));
  } else if (one_part && metric.kind == MetricKind::kFree && !report.host_calls.empty()) {
    report.headline += ": on the host " + OnTheHost(report.host_calls);
  } else if (report.explained == leading.name && !one_part) {
    report.headline = HeadlineOf(leading, report);
  }
}

}  // namespace mpa::gate
