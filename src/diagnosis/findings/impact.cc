// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/findings/diagnosis.h"

namespace mpa {

Impact ImpactOf(const Diagnosis& diagnosis, const FoundCause& finding) {
  const auto from = [&](double share) {
    return finding.gain >= ShareOf(diagnosis.step, share) && diagnosis.step > 0;
  };
  const Rules& rules = diagnosis.rules;
  if (from(rules.critical_share)) return Impact::kCritical;
  if (from(rules.high_share)) return Impact::kHigh;
  if (from(rules.medium_share)) return Impact::kMedium;
  return from(rules.low_share) ? Impact::kLow : Impact::kInfo;
}

std::string_view NameOf(Impact impact) {
  switch (impact) {
    case Impact::kCritical:
      return "critical";
    case Impact::kHigh:
      return "high";
    case Impact::kMedium:
      return "medium";
    case Impact::kLow:
      return "low";
    case Impact::kInfo:
      break;
  }
  return "info";
}

}  // namespace mpa
