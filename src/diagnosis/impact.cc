// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/diagnosis.h"

namespace mpa {

Impact ImpactOf(TimeNs gain, TimeNs step) {
  const auto from = [&](TimeNs percent) { return gain >= step / 100 * percent && step > 0; };
  if (from(20)) return Impact::kCritical;
  if (from(10)) return Impact::kHigh;
  if (from(3)) return Impact::kMedium;
  return from(1) ? Impact::kLow : Impact::kInfo;
}

std::string_view NameOf(Impact impact) {
  switch (impact) {
    case Impact::kCritical: return "critical";
    case Impact::kHigh: return "high";
    case Impact::kMedium: return "medium";
    case Impact::kLow: return "low";
    case Impact::kInfo: break;
  }
  return "info";
}

}  // namespace mpa
