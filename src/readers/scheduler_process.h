// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "mpa/model/rank_trace.h"
#include "scheduler_events.h"
#include "scheduler_states.h"

namespace mpa::readers {

/// The threads of the rank's process, of which the tables of the host name some, among those of a
/// trace of the scheduler at `path`. In containers threads have other numbers; pid_mapping*.json
/// beside the trace says which.
OwnThreads FindOwnThreads(const std::filesystem::path& path, const SchedulerEvents& events,
                          RankTrace& trace);

/// The rows of `tracks` that are threads of the host.
std::vector<std::int32_t> HostTracks(const RankTrace& trace);

}  // namespace mpa::readers
