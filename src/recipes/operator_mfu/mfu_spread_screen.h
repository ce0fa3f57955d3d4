// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mfu_summary.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa {

/// The summaries of several ranks as lines for the screen: the spread of their utilisation, of what
/// has none of operations per second; what wastes most on all of them; the ranks that stand out.
std::vector<std::string> MfuSpreadScreen(const std::vector<OfRank<MfuSummary>>& ranks);

}  // namespace mpa
