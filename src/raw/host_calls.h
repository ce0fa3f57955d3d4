// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host_side.h"
#include "join_tasks.h"
#include "mpa/raw/session.h"

namespace mpa::raw {

/// Sets HostCalls::launches: of all nodes, of the recording of events and the waiting for them, and
/// of calls that copy.
void MarkLaunches(const HostSide& host, Dictionary& dictionary, Session& session);

/// Removes the calls that ended before the collection began. They were needed to understand the
/// tasks that they launched; these lose the connection.
void DropEarlyCalls(Session& session);

}  // namespace mpa::raw
