// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/model/rank_trace.h"

namespace mpa {

/// Finds what the device did of earlier steps: work that was queued before the profiler began runs
/// on into the capture, and has no launch there. Sets `earlier_work_end` and, for others that ask,
/// `busiest_stream`. Needs steps, launches and all work of the device.
///
/// Where it was recorded: a stream runs in order, so this is the work without a launch before the
/// first work of its stream that has one; on a stream without any launch, before the first of all.
/// Of a GPU the work is left out; of an NPU it stays, because the profiler's own tables hold it.
/// Nothing is found where work without a launch may be that of a launch without work, where it
/// begins long after the first launch, where the first step launched nothing, and of an NPU where
/// later work, as that of graphs, lacks launches, too.
///
/// Where none of it was recorded: the busiest stream begins the first work of the capture a long
/// time after the call that launched it returned, and nothing that was recorded ran between; of an
/// NPU the calls of the host have to be there for that. Or, on a GPU and in a run that had made
/// steps before, a call waited for the device for a long time before anything was launched; the
/// operators of the host have to be there for that.
void FindEarlierWork(RankTrace& trace);

}  // namespace mpa
