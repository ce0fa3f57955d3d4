// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/model/rank_trace.h"

namespace mpa {

/// Gives the marks of a server the tokens for which the graphs were captured that they replay: by
/// the capture that explains a replay ("capture_32_FULL"), else by what most kernels of the graph
/// have as the first dimension of their first tensor. Needs the launches and kernels; marks whose
/// graph is unknown keep -1.
void AddGraphTokens(RankTrace& trace);

}  // namespace mpa
