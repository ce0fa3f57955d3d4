// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/report/finding_text.h"

namespace mpa {

/// "chain" of a finding in the document; lists of ranks have at most so many, and a count beside
/// them.
nlohmann::ordered_json ChainJson(const FindingChain& chain, std::size_t most_ranks);

/// A line of `why`: what it says of the finding, empty for more of the same.
struct WhyLine {
  std::string label, text;
};

/// A time with its unit: ms, and us below 0.1 ms.
std::string TimeWithUnit(const MsText& ms, TimeNs time);

/// The chain of evidence of a finding, in at most `columns` behind the labels.
std::vector<WhyLine> ChainLines(const Finding& finding, const MsText& ms, std::size_t columns);

}  // namespace mpa
