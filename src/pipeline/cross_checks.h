// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/capture/capture.h"
#include "mpa/model/rank_trace.h"
#include "mpa/readers/reader.h"

namespace mpa {

/// Leaves out tasks and steps that are in the capture twice, and counts them, and steps that
/// overlap, in trace.issues.
void DropRepeatedRows(RankTrace& trace);

/// Counts in trace.issues what kernel_details.csv lacks according to op_statistic.csv,
/// step_trace_time.csv and the trace. Looks only where nothing else is wrong.
void CheckKernelTable(const RankInput& input, const ReadRequest& request, RankTrace& trace);

}  // namespace mpa
