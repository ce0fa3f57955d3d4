// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trace_builder.h"
#include "trace_fragment.h"
#include "trace_processes.h"

/// What a whole trace of an NPU keeps and only its reader sees.
namespace mpa::readers {

/// Launches begin with operators: counts those of which the trace has no operator. The launches
/// must be those of arrows from operators alone.
void CheckLaunchers(RankTrace& trace);

/// Work that was handed to another thread has two halves; only at the edges of the window one may
/// be missing. Counts others, and halves that were written twice.
void CheckQueue(const std::vector<QueueEvent>& events, Issues& issues);

/// Names the processes of the device in `found` by what they hold where the trace lacks their
/// names, which is counted; counts events of the program without a category.
void CheckProcesses(const std::vector<DeviceEvent>& events, Processes& found, RankTrace& trace);

}  // namespace mpa::readers
