// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyse.h"
#include "mpa/report/timeline.h"
#include "summary.h"

namespace mpa::head {

/// The call that a picture is most worth: the one with the largest head, of the graph that takes
/// the most time; of calls of the phase. Empty when there is none.
std::optional<std::size_t> CallToPicture(const std::vector<Call>& calls,
                                         const std::vector<Scope>& scopes, Phase phase);

/// One call: its segments and the framework's events above what the device did. Empty for a call of
/// which only the start is known.
std::optional<Timeline> PictureOf(const RankTrace& trace, const HeadAnalysis& analysis,
                                  std::size_t call);

}  // namespace mpa::head
