// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/measure/module_statistic.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa {

/// Where the kernel time of the ranks went, for the screen: the ten modules with the most of their
/// own, which is without the modules within, then what lies outside of modules; the shares add up.
/// Of several ranks with the spread, and the ranks that stand out. Nothing where there are no
/// kernels.
ScreenLines ModuleList(const std::vector<OfRank<ModuleStatistic>>& ranks);

/// The modules as a tree with bars for their share of the device time, the largest first, for the
/// screen; modules too small for `most_lines` lines are counted in the last one.
ScreenLines ModuleScreen(const std::vector<ModuleStatisticRow>& rows, std::size_t most_lines);

}  // namespace mpa
