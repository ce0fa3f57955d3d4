// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "call.h"
#include "host_forest.h"

namespace mpa::head {

/// A call with the events that make it. Nodes are those of the forest, kNone where there is none.
struct FoundCall {
  CallKind kind{};
  std::int64_t parent = -1;  ///< position of the call it is nested in
  std::int64_t node = HostNode::kNone;
  std::int64_t run = HostNode::kNone;
  std::int64_t execution = HostNode::kNone;  ///< of the graph, by GE
  std::int64_t replay = HostNode::kNone;
  std::int64_t eager_run = HostNode::kNone;
  std::int64_t assemble_inputs = HostNode::kNone;
  MaybeNs assembled{};  ///< the last end of AssembleInputs, AssembleOutputs and LoadGraph
};

/// The calls of all threads that a framework event shows (A1 to A5), each thread in order of
/// time, a call before those nested in it.
std::vector<FoundCall> FindCalls(const HostForest& forest);

}  // namespace mpa::head
