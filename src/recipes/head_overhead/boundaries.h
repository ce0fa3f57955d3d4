// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "call.h"
#include "find_calls.h"
#include "host_forest.h"
#include "runtime_calls.h"

namespace mpa::head {

/// Where a call is entered, and where TorchAir and GE take over: e0, t1, t2, t3 and t4 with their
/// flags. `executed` is where GE's execution ends.
struct Boundaries {
  TimeNs e0 = 0, t1 = 0, t4 = 0;
  MaybeNs t2, t3, executed;
  std::uint16_t flags = 0;
  std::int64_t region = HostNode::kNone;  ///< the innermost compiled region of the call
};

/// Nothing before `begin` belongs to the call; `is_call[node]` tells the nodes of calls.
Boundaries FindBoundaries(const HostForest& forest, const RuntimeCalls& runtime,
                          const FoundCall& call, MaybeNs begin, const std::vector<bool>& is_call,
                          bool runs_eagerly);

}  // namespace mpa::head
