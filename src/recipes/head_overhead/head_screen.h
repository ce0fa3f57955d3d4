// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "head_part.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa::head {

/// What a rank's head comes to, as lines of a screen: the answer first, behind it `spread`, what is
/// said of all ranks, then the tables it follows from. What does not fit into `room` lines is
/// counted in the last one. `rank` is how the rank is called: "rank 0".
std::vector<std::string> HeadScreen(const HeadPart& part, std::string_view rank,
                                    std::string_view policy, std::size_t room,
                                    const std::vector<std::string>& spread = {});

/// Adds the sheets HEAD_CALL, HEAD_STEP, HEAD_SUMMARY, HEAD_CHILD, HEAD_ADVICE. Times are
/// nanoseconds, in workbooks microseconds. What is unknown is an empty cell.
void AddHeadSheets(const std::vector<OfRank<HeadPart>>& ranks, Report& report);

/// The position of the rank whose median head is the longest; the first one where none has a head.
std::size_t LongestHead(const std::vector<OfRank<HeadPart>>& ranks);

/// The spread of the heads over several ranks as lines of a screen: medians, exposed time, ranks
/// that stand out, ranks without calls of graphs. Nothing for one rank.
std::vector<std::string> HeadSpreadLines(const std::vector<OfRank<HeadPart>>& ranks);

}  // namespace mpa::head
