// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/model/rank_trace.h"
#include "mpa/raw/session.h"
#include "mpa/readers/reader.h"
#include "trace_builder.h"

/// From a raw capture to the tables of a rank, as the profiler's own text output would fill them.
/// All texts are of the session's pool, which is handed to the rank afterwards.
namespace mpa::readers {

/// Operators, their queue, Python, collections, calls of CANN.
void FillHostTables(raw::Session& session, Tables wanted, TrackNumbers& tracks, RankTrace& trace);

/// Kernels, tasks, collectives, what launched them, and what the device did.
void FillDeviceTables(raw::Session& session, Tables wanted, TrackNumbers& tracks, RankTrace& trace);

/// The tables that the profiler sums up in files beside the timeline.
void FillSummaryTables(raw::Session& session, Tables wanted, RankTrace& trace);

}  // namespace mpa::readers
