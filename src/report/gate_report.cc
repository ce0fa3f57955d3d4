// SPDX-License-Identifier: Apache-2.0
#include "mpa/report/gate_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace mpa {

std::string_view VerdictName(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::kOk:
      return "ok";
    case GateVerdict::kImproved:
      return "improved";
    case GateVerdict::kRegression:
      return "regression";
    case GateVerdict::kUndecided:
      return "undecided";
    case GateVerdict::kInconclusive:
      return "inconclusive";
    case GateVerdict::kNotComparable:
      break;
  }
  return "not_comparable";
}

std::optional<double> GateMetric::ChangePercent() const {
  if (base == 0) return std::nullopt;
  return 100.0 * static_cast<double>(Change()) / static_cast<double>(base);
}

const GateMetric* GateReport::Leading() const {
  const auto found = std::ranges::find(metrics, verdict, &GateMetric::verdict);
  return found == metrics.end() ? nullptr : &*found;
}

std::string WarmupText(const GateWarmup& warmup) {
  const std::string steps =
      warmup.steps == 1 ? "first step" : fmt::format("first {} steps", warmup.steps);
  std::string only;
  if (warmup.in_base != warmup.in_comparison) {
    only = fmt::format("; only the {} was slow there, --warmup 0 judges all steps",
                       warmup.in_base ? "base" : "comparison");
  }
  return fmt::format(
      "{} left out as warm-up: {:.2f} times the later ones in the base, {:.2f} times in the"
      " comparison{}",
      steps, warmup.base, warmup.comparison, only);
}

std::string DriftText(const GateDrift& drift) {
  if (!drift.differs) return fmt::format("drift of {:+.2f} % per step subtracted", drift.base);
  return fmt::format(
      "drift differs and is not subtracted: {:+.2f} % per step in the base, {:+.2f} % in the"
      " comparison; in the last step the change is {:+.1f} %",
      drift.base, drift.comparison, drift.change_at_end);
}

}  // namespace mpa
