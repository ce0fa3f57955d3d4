// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dictionary.h"
#include "host_side.h"
#include "join_tasks.h"
#include "mpa/raw/session.h"

namespace mpa::raw {

/// Fills session.kernels from the tasks that compute, and sets kind and detail of these tasks.
/// Tasks within a communication range are left to the collectives. If they compute, they are
/// kernels, too, but their kind is not set.
void FindKernels(const HostSide& host, const TaskOrigins& origins, TensorSets& tensors,
                 Dictionary& dictionary, Session& session);

/// Fills session.copies: a row for each asynchronous copy.
void FindCopies(const HostInput& input, const HostSide& host, const TaskOrigins& origins,
                Session& session);

}  // namespace mpa::raw
