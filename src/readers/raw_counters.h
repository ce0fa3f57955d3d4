// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/model/rank_trace.h"
#include "mpa/raw/session.h"

namespace mpa::readers {

/// The counters of a raw capture: memory in use, the traffic of memories, links and ports, what the
/// chip tells of itself, and the use of the host.
void FillCounters(const raw::Session& session, RankTrace& trace);

}  // namespace mpa::readers
