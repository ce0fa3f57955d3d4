// SPDX-License-Identifier: Apache-2.0
#include "mpa/report/gate_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpa/base/language.h"

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

std::string_view VerdictWord(GateVerdict verdict) {
  static constexpr const char* kWords[] = {"OK",        "IMPROVED",     "REGRESSION",
                                           "UNDECIDED", "INCONCLUSIVE", "NOT COMPARABLE"};
  return Translated(kWords[static_cast<std::size_t>(verdict)]);
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
      warmup.steps == 1 ? Say("first step") : Say("first {} steps", warmup.steps);
  const std::string text =
      Say("{} left out as warm-up: {:.2f} times the later ones in the base, {:.2f} times in the"
          " comparison",
          steps, warmup.base, warmup.comparison);
  if (warmup.in_base == warmup.in_comparison) return text;
  return warmup.in_base
             ? Say("{}; only the base was slow there, --warmup 0 judges all steps", text)
             : Say("{}; only the comparison was slow there, --warmup 0 judges all steps", text);
}

std::string DriftText(const GateDrift& drift) {
  if (!drift.differs) return Say("drift of {:+.2f} % per step subtracted", drift.base);
  return Say(
      "drift differs and is not subtracted: {:+.2f} % per step in the base, {:+.2f} % in the"
      " comparison; in the last step the change is {:+.1f} %",
      drift.base, drift.comparison, drift.change_at_end);
}

}  // namespace mpa
