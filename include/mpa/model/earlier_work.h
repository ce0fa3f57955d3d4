// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/model/rank_trace.h"

namespace mpa {

/// Finds what the device did of earlier steps: work that was queued before the profiler began runs
/// on into the capture, and has no launch there. A stream runs in order, so this is the work
/// without a launch before the first work of its stream that has one; on a stream without any
/// launch, before the first of all. Sets `earlier_work_end`. Of a GPU the work is left out; of an
/// NPU it stays, because the profiler's own tables hold it. Nothing is found where work without a
/// launch may be that of a launch without work, where it begins long after the first launch, where
/// the first step launched nothing, and of an NPU where later work, as that of graphs, lacks
/// launches, too. Needs steps, launches and all work of the device.
void FindEarlierWork(RankTrace& trace);

}  // namespace mpa
