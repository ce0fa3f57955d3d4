// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/model/rank_trace.h"

namespace mpa::test {

/// Does with a rank that was read all that the commands do: checks what the readers promise, links
/// the device work, compares the rank with itself, runs the recipes and summarises it for a gate.
/// `choice` selects among the options of the analyses. Ends the program where something is wrong.
void AnalyseRank(RankTrace& trace, unsigned choice);

}  // namespace mpa::test
