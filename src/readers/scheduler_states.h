// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "mpa/model/rank_trace.h"
#include "scheduler_events.h"

namespace mpa::readers {

/// Threads of the rank's process: as the trace numbers them, and as the profile does.
using OwnThreads = std::map<std::int32_t, std::int64_t>;

/// The threads' states and the interrupts on their cores, moved by `offset` to the clock of the
/// profile. A thread has states from its first event to the end of the trace, or to its own end.
void AddThreadStates(const SchedulerEvents& events, const OwnThreads& own, TimeNs offset,
                     RankTrace& trace);

}  // namespace mpa::readers
