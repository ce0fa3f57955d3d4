// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyse.h"
#include "head_part.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/timeline.h"
#include "summary.h"

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

/// The call that a picture is most worth: the one with the largest head, of the graph that takes
/// the most time; of calls of the phase. Empty when there is none.
std::optional<std::size_t> CallToPicture(const std::vector<Call>& calls,
                                         const std::vector<Scope>& scopes, Phase phase);

/// One call: its segments and the framework's events above what the device did. Empty for a call of
/// which only the start is known.
std::optional<Timeline> PictureOf(const HeadAnalysis& analysis, std::size_t call);

}  // namespace mpa::head
