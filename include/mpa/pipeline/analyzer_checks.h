// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/capture/ability.h"

namespace mpa {

struct AnalyzerCheck {
  std::string name;  ///< "<command>: <analysis>"
  Verdict (*can_run)(const RankFacts& facts);
};

/// Asks every analysis of this program, in the order of --help.
const std::vector<AnalyzerCheck>& AllAnalyzerChecks();

}  // namespace mpa
