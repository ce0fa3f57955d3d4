// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "mpa/raw/session.h"

/// Which columns and kernels the tables show.
namespace mpa::profiler_output {

/// What a cell without a value shows.
inline constexpr std::string_view kNone = "N/A";

/// Level 0 recorded no types and shapes; the profiler leaves those columns and tables out.
inline bool IsLevel0(const raw::Session& session) { return session.info.level == 0; }

/// HWTS chips have no mixed cores and no FFTS+ groups.
bool HasMixedCores(const raw::Session& session);

/// False for pieces of collectives and of caches that run as kernels; kernel_details.csv leaves
/// them out.
bool IsListedKernel(const raw::Session& session, std::size_t kernel);

/// The type of a task as the profiler shows it: the core of its kernel, else what the host called
/// it, of an FFTS+ group or without host record what the device did.
std::string_view TaskType(const raw::Session& session, std::size_t task);

}  // namespace mpa::profiler_output
