// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/model/rank_trace.h"
#include "trace_fragment.h"
#include "trace_processes.h"

/// Counter events of a trace: memories, links, network ports, accelerators, the use of the host.
namespace mpa::readers {

/// The counter events among `events`, as the processes of the trace name them. Those of other
/// devices and ranks are left out.
void AppendCounters(const std::vector<CounterEvent>& events, const std::vector<Metadata>& metadata,
                    const Processes& processes, RankTrace& trace);

}  // namespace mpa::readers
