// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "analyse.h"

namespace mpa::head {

/// Gives every call the graph it runs: the compiled region, with the place in it where it runs
/// several, else the model, else the number of the call in its step. Returns the names.
std::vector<std::string> NameGraphs(const RankTrace& trace, const HostForest& forest,
                                    const RuntimeCalls& runtime,
                                    const std::vector<CallParts>& parts, std::vector<Call>& calls);

}  // namespace mpa::head
