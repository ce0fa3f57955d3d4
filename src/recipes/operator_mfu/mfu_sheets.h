// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/recipe/make_recipe.h"
#include "part.h"

namespace mpa::operator_mfu {

/// Adds the sheets OperatorMFU (kernels), ModuleMFU, MFUSummary and MFUWaste; with `compat` the
/// first two, with the columns that the Python tool has.
void AddSheets(const std::vector<OfRank<Part>>& parts, bool compat, Report& report);

}  // namespace mpa::operator_mfu
