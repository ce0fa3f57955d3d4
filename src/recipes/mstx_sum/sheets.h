// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/recipe/make_recipe.h"
#include "spans.h"

namespace mpa::recipes::mstx {

using Ranks = std::vector<OfRank<MarkedSpans>>;

/// MSTXMarkStats, and MSTXAllFrameworkStats, MSTXAllCannStats, MSTXAllDeviceStats.
void AddMstxSheets(const Ranks& ranks, Report& report);

}  // namespace mpa::recipes::mstx
