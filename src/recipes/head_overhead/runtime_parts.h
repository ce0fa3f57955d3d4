// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "analyse.h"

namespace mpa::head {

/// Notes which launches and executions of the runtime each call made: on its own thread, and on
/// other threads that execute its model for it.
void FindRuntimeParts(const HostForest& forest, const RuntimeCalls& runtime,
                      std::vector<CallParts>& parts);

/// Executions and replays that belong to no call, in order of thread and time: all that is seen of
/// graphs whose framework events are not in the capture. To be called behind FindRuntimeParts,
/// which it completes by the workers.
std::vector<std::size_t> FindLoneExecutions(const HostForest& forest, const RuntimeCalls& runtime,
                                            std::vector<CallParts>& parts);

/// Which machine runs the graph of a call.
Engine EngineOf(const RankTrace& trace, const HostForest& forest, const RuntimeCalls& runtime,
                const CallParts& parts, bool runs_eagerly);

}  // namespace mpa::head
