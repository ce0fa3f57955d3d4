// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/compare/comparison.h"
#include "mpa/measure/module_tree.h"

namespace mpa {

/// Appends ModuleCompareStatistic and ModuleCompare. False, with a note that says why, when the
/// captures have no modules.
bool CompareModules(const CompareInput& input, Report& report);

/// Module calls that belong together; one may be missing.
struct ModulePair {
  const Module* base = nullptr;
  const Module* comparison = nullptr;
};

/// Matches the module calls of two captures by their full names, level by level. Without `align`
/// all calls stay alone. The pairs point into the trees.
std::vector<ModulePair> MatchModules(const ModuleTrees& base, const ModuleTrees& comparison,
                                     bool align);

/// The pairs in the order of the sheets: by the start of the base's call; calls that only the
/// comparison has come before the first pair whose comparison starts later.
std::vector<ModulePair> InSheetOrder(std::vector<ModulePair> pairs);

}  // namespace mpa
