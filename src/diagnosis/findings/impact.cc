// SPDX-License-Identifier: Apache-2.0
// How much a finding matters.
#include "mpa/base/enum_name.h"
#include "mpa/diagnosis/findings/diagnosis.h"

namespace mpa {

Impact ImpactOf(const Diagnosis& diagnosis, const Finding& finding) {
  const auto from = [&](double share) {
    return finding.gain >= ShareOf(diagnosis.step, share) && diagnosis.step > 0;
  };
  const Thresholds& thresholds = diagnosis.thresholds;
  if (from(thresholds[kCriticalShare])) return Impact::kCritical;
  if (from(thresholds[kHighShare])) return Impact::kHigh;
  if (from(thresholds[kMediumShare])) return Impact::kMedium;
  return from(thresholds[kLowShare]) ? Impact::kLow : Impact::kInfo;
}

std::string_view NameOf(Impact impact) {
  return EnumName<Impact::kCritical>(impact, {"info", "low", "medium", "high", "critical"});
}

}  // namespace mpa
