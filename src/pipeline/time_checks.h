// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/model/rank_trace.h"

namespace mpa {

/// Leaves out rows whose times are more than a day away from those of most others, or that last
/// longer than that, and counts them in trace.issues. Before launches are linked.
void DropFarRows(RankTrace& trace);

/// Counts what is impossible in the times of a rank's device work in trace.issues: times that span
/// more than a day or lie outside of the session, kernels of a table that the trace has at other
/// times, and kernels that run on under their successors on one stream.
void CheckTimes(RankTrace& trace);

}  // namespace mpa
