// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {

/// All findings, in the order of the catalogue.
const std::vector<const FindingType*>& Catalogue();

struct RuleEntry {
  const Threshold* threshold = nullptr;
  std::string_view of;  ///< id of a finding, "rank" or "comm" for several, "all" for all
};

/// Every threshold, in the order of the catalogue.
const std::vector<RuleEntry>& RuleList();

/// The rules of a document of schema mpa.rules/1; what it leaves out keeps its usual value. Throws
/// Error (kUsage) that names the rule: one that is not known, or a value that is out of its range.
Thresholds ParseThresholds(std::string_view text);
/// The document, with every rule.
std::string ThresholdsText(const Thresholds& thresholds);

}  // namespace mpa
