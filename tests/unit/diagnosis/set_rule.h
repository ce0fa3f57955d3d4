// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "mpa/diagnosis/catalogue.h"

namespace mpa {

/// The threshold of that name. Throws std::out_of_range if there is none.
inline const Threshold& RuleNamed(std::string_view of, std::string_view name) {
  for (const RuleEntry& entry : RuleList()) {
    if (entry.of == of && entry.threshold->name == name) return *entry.threshold;
  }
  throw std::out_of_range(std::string(name));
}

/// Sets it, as a file of rules would.
inline void SetRule(std::string_view of, std::string_view name, double value,
                    Thresholds& thresholds) {
  thresholds.Set(RuleNamed(of, name), value);
}

}  // namespace mpa
