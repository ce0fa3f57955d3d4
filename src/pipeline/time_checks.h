// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/model/rank_trace.h"

namespace mpa {

/// Counts what is impossible in the times of a rank's device work in trace.issues: times that span
/// more than a day or lie outside of the session, kernels of a table that the trace has at other
/// times, and kernels that run on under their successors on one stream.
void CheckTimes(RankTrace& trace);

}  // namespace mpa
