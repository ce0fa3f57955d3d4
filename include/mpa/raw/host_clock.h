// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "mpa/base/time.h"

namespace mpa::raw {

/// From the host's monotonic clock (CLOCK_MONOTONIC_RAW) to the epoch, as the control files of the
/// capture in `path` say it: start_info and end_info of PROF_*, and profiler_info. They may also
/// lie in `path` itself. Empty: none does.
std::optional<TimeNs> MonotonicToEpoch(const std::filesystem::path& path);

}  // namespace mpa::raw
