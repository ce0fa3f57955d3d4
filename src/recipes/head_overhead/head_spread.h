// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "head_part.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa::head {

/// The position of the rank whose median head is the longest; the first one where none has a head.
std::size_t LongestHead(const std::vector<OfRank<HeadPart>>& ranks);

/// The spread of the heads over several ranks as lines of a screen: medians, exposed time, ranks
/// that stand out, ranks without calls of graphs. Nothing for one rank.
std::vector<std::string> HeadSpreadLines(const std::vector<OfRank<HeadPart>>& ranks);

}  // namespace mpa::head
