// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host_side.h"
#include "join_tasks.h"
#include "mpa/raw/session.h"

namespace mpa::raw {

/// Fills session.collectives and session.parts from the tasks that were launched within a
/// communication range, and sets kind and detail of these tasks. ReadSession() calls it for
/// Parts::kCann when session.calls, tasks and kernels are complete.
void BuildCollectives(const HostInput& input, const HostSide& host, const TaskOrigins& origins,
                      Session& session);

}  // namespace mpa::raw
