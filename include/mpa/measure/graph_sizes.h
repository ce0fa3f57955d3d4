// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// The first dimension of the first tensor of "32,4096;4096,4096", in quotes or brackets or not;
/// -1: there is none.
std::int64_t FirstDimension(std::string_view shapes);

/// Gives the marks of a server the tokens for which the graphs were captured that they replay: by
/// the capture that explains a replay ("capture_32_FULL"), else by what most kernels of the graph
/// have as the first dimension of their first tensor. Needs the launches and kernels; marks whose
/// graph is unknown keep -1.
void AddGraphTokens(RankTrace& trace);

}  // namespace mpa
