// SPDX-License-Identifier: Apache-2.0
// When runs that were judged become part of the baseline.
#include <algorithm>
#include <cmath>

#include "decision.h"
#include "mpa/base/language.h"
#include "mpa/gate/judge.h"

namespace mpa::gate {

std::string WhyBaselineStays(const GateReport& report) {
  if (report.verdict != GateVerdict::kImproved) return Say("nothing improved beyond noise");
  const GateMetric* lucky = nullptr;
  bool improved = false;
  for (const GateMetric& metric : report.metrics) {
    const auto change = static_cast<double>(metric.Change());
    // Growth holds the baseline where it is, also where nobody knows what is usual.
    if (change > (std::isinf(metric.luck) ? kLuckFactor * metric.noise : metric.luck)) {
      return Say("{} grew beyond noise; --save_baseline saves the runs all the same", metric.name);
    }
    if (metric.verdict != GateVerdict::kImproved) continue;
    if (change < -metric.luck) {
      improved = true;
    } else if (lucky == nullptr) {
      lucky = &metric;
    }
  }
  if (improved || lucky == nullptr) return "";
  if (std::isinf(lucky->luck)) {
    return Say("{} improved, but only {} runs in all show by how much runs differ in it",
               lucky->name, kManyRuns);
  }
  const std::string text = Say("{} improved by {}, of which up to {} may be chance", lucky->name,
                               AmountText(lucky->quantity, -lucky->Change()),
                               AmountText(lucky->quantity, std::llround(lucky->luck)));
  return lucky->low_confidence
             ? Say("{}; three runs a side, or learned noise (--noise), lower that", text)
             : text;
}

bool FillsBaseline(const GateReport& report, const std::vector<RunSummary>& base,
                   const std::vector<RunSummary>& runs) {
  const bool passed =
      report.verdict == GateVerdict::kOk || report.verdict == GateVerdict::kImproved;
  if (!passed || report.partial || base.size() >= kManyRuns) return false;
  const bool is_known = std::ranges::any_of(runs, [&](const RunSummary& run) {
    return std::ranges::find(base, run.samples, &RunSummary::samples) != base.end();
  });
  return !is_known && std::ranges::all_of(report.metrics, [](const GateMetric& metric) {
    return std::abs(static_cast<double>(metric.Change())) <= metric.luck;
  });
}

}  // namespace mpa::gate
