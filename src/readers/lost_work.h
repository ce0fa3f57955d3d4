// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "gpu_launches.h"
#include "trace_builder.h"

namespace mpa::readers {

/// Looks for the work of each call that launches some: by its number, or by the arrow that begins
/// at the call. Appends the calls of which the device has none to trace.unanswered_launches, but
/// for those whose graph is being captured. Where another launch has as many pieces of work too
/// many, the numbers are wrong, and that is counted instead. To be called before any work is left
/// out.
void FindLostWork(const GpuLaunches& launches, const std::vector<RuntimeCall>& calls,
                  const GpuWork& work, std::string_view file_name, TrackNumbers& tracks,
                  RankTrace& trace);

}  // namespace mpa::readers
