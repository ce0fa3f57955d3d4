// SPDX-License-Identifier: Apache-2.0
#include "mpa/pipeline/analyzer_checks.h"

#include <fmt/format.h>

namespace mpa {

const std::vector<AnalyzerCheck>& AllAnalyzerChecks() {
  static const std::vector<AnalyzerCheck> all = [] {
    std::vector<AnalyzerCheck> checks;
    for (const Comparison& comparison : AllComparisons()) {
      checks.push_back(
          {fmt::format("compare: {}", comparison.title), comparison.can_run, &comparison, nullptr});
    }
    for (const Recipe& recipe : AllRecipes()) {
      checks.push_back({fmt::format("cluster: {}", recipe.name), recipe.can_run, nullptr, &recipe});
    }
    return checks;
  }();
  return all;
}

}  // namespace mpa
