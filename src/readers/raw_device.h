// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/model/rank_trace.h"
#include "mpa/raw/session.h"
#include "trace_builder.h"

namespace mpa::readers {

/// Kernels, tasks, collectives, what launched them, and what the device did.
void FillDeviceTables(raw::Session& session, Tables wanted, TrackNumbers& tracks, RankTrace& trace);

}  // namespace mpa::readers
