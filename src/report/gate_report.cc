// SPDX-License-Identifier: Apache-2.0
#include "mpa/report/gate_report.h"

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
  const auto found = std::find_if(metrics.begin(), metrics.end(), [this](const GateMetric& metric) {
    return metric.verdict == verdict;
  });
  return found == metrics.end() ? nullptr : &*found;
}

}  // namespace mpa
