// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/base/rank_state.h"
#include "mpa/change/job_causes.h"
#include "mpa/recipe/recipe.h"

namespace mpa {

/// What costs the job time, from what the recipe of the diagnosis made of its ranks. `absent`:
/// ranks of the job without a part. Empty where no device work was recorded. Throws Error
/// (kCorrupt) for a damaged part.
JobCauses CausesOf(const std::vector<RankPart>& parts, const AbsentRanks& absent);

}  // namespace mpa
