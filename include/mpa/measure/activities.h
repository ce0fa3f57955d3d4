// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/measure/intervals.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// From the first to the last device work of any kind, without tasks that only frame the
/// collection; empty (end <= begin) where there is none. Copies and waits before the first kernel
/// and behind the last one are part of a run.
Interval DeviceSpan(const RankTrace& trace);

/// What the device of a rank did when. Every command that shows computing, communication or free
/// time takes it from here.
struct Activities {
  /// From the beginning to the end of what is looked at. Empty where there is no work.
  Interval span;
  Intervals computing, communication;
  Intervals exposed;  ///< communication while nothing is computed
  /// Kernels of the LCCL library by start, as they are: neither computing nor communication.
  std::vector<Interval> lccl;

  bool Empty() const { return computing.empty() && communication.empty() && lccl.empty(); }
  TimeNs Length() const { return span.end > span.begin ? span.end - span.begin : 0; }
  /// The span without computing, exposed communication and LCCL kernels.
  Intervals Free() const;
};

/// From kernels, collectives and device tasks, whatever wrote the capture. Where there are no
/// kernels, or no collectives, the profiler's own overlap analysis tells what is known of them.
Activities ActivitiesOf(const RankTrace& trace);

/// As the profiler's own overlap analysis says, which the Python tool goes by: that of older
/// exporters lacks the time before the first and behind the last kernel or collective. ActivitiesOf
/// where there is none, and of one step.
Activities AnalysedActivitiesOf(const RankTrace& trace);

}  // namespace mpa
