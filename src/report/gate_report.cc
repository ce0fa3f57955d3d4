// SPDX-License-Identifier: Apache-2.0
#include "mpa/report/gate_report.h"

namespace mpa {

std::string_view VerdictName(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::kOk:
      return "ok";
    case GateVerdict::kImproved:
      return "improved";
    case GateVerdict::kRegression:
      return "regression";
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

}  // namespace mpa
