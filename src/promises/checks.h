// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "mpa/model/rank_trace.h"

/// The functions of the list in promises.cc. Each looks at the tables of one rank and counts what
/// is broken in trace.issues.
namespace mpa::promises {

/// True for a trace of torch.profiler.
inline bool IsKinetoTrace(const RankTrace& trace) {
  return trace.device == DeviceKind::kGpu || trace.source == "torch.profiler";
}

/// Keeps the rows of a table of `trace` for which keep(row) holds, of kernels with their loads.
template <typename Table, typename Keep>
void KeepRows(RankTrace& trace, Table& table, Keep keep) {
  if constexpr (std::is_same_v<Table, Kernels>) {
    if (&table == &trace.kernels && !trace.kernel_loads.Empty()) trace.kernel_loads.Filter(keep);
  }
  table.Filter(keep);
}

// records.cc
/// Leaves out tasks that a database has twice, work and operators that a trace of torch.profiler
/// has twice, and events and rows that a text capture has twice.
void LeaveOutRepeatedTasks(RankTrace& trace);
/// Counts so many rows of `table` that were written twice.
void CountRepeated(RankTrace& trace, const char* table, std::size_t rows);

/// Leaves out steps that are there twice; counts steps that overlap.
void LeaveOutRepeatedSteps(RankTrace& trace);
/// Gaps between steps without any event in the tables `read`. Of raw data the reader says it.
void CheckGaps(Tables read, RankTrace& trace);

// events.cc
/// Leaves out events and rows that a text capture has twice.
void LeaveOutRepeatedEvents(RankTrace& trace);

// communication.cc
/// Operators that communicate where the device has no collectives. Both have to be read.
void CheckCommunicationRecorded(RankTrace& trace);

// activities.cc
/// Kernels, collectives and free time that only the trace's overlap analysis has, or only the rest.
void CheckActivities(RankTrace& trace);

// times.cc
/// Leaves out rows whose times are more than a day away from those of most others, or that last
/// longer than that; and a few rows of the device that stretch the run to more than twice its
/// length, where the host and all else ended long before.
void LeaveOutFarRows(RankTrace& trace);
/// Times that span more than a day or lie outside of the session, and kernels of a table that the
/// trace has at other times.
void CheckTimes(RankTrace& trace);
/// Kernels that run on under their successors on one stream.
void CheckStreams(RankTrace& trace);

// launches.cc
/// Launches of which the device has no work.
void CheckUnansweredLaunches(RankTrace& trace);
/// Leaves out work that begins before its launch. Where much of it does, the clocks are wrong.
void LeaveOutWorkBeforeLaunch(RankTrace& trace);
/// Work whose launch is unknown, where operators were read. Looks only where nothing else is wrong.
void CheckWorkHasLaunch(RankTrace& trace);

}  // namespace mpa::promises
