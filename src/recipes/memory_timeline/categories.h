// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lives.h"
#include "operators.h"

namespace mpa::memory_timeline {

/// Sets the categories of the allocations; see docs/recipes.md for the evidence.
void SetCategories(const RankTrace& trace, const Surroundings& around, std::vector<Life>& lives);

}  // namespace mpa::memory_timeline
