// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/model/rank_trace.h"
#include "mpa/raw/session.h"

namespace mpa::readers {

/// The counters of a raw capture: memory in use, and the traffic of memories, links and ports.
void FillCounters(const raw::Session& session, RankTrace& trace);

}  // namespace mpa::readers
