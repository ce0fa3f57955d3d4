// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "mpa/model/rank_trace.h"

namespace mpa::readers {

/// From the host's monotonic clock, which other tools than the profiler record by, to that of the
/// capture. `path` is a file of such a tool, which may have control files of its own beside it.
/// Empty: neither these nor those of the capture say it.
std::optional<TimeNs> MonotonicToEpoch(const RankTrace& trace, const std::filesystem::path& path);

/// Warns that the file at `path` is not used, because the clock of the capture is unknown.
void WarnOfUnknownClock(const std::filesystem::path& path);

}  // namespace mpa::readers
