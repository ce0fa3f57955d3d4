// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/raw/session.h"

namespace mpa::raw {

/// One row of step_trace_time.csv; times in ns. The profiler sums epoch microseconds as doubles,
/// here they are exact.
struct StepTime {
  std::int64_t device = 0;
  std::int64_t step = -1;  ///< number of the step; -1: the capture has no steps, all of it
  double computing = 0;
  double exposed_communication = 0;
  double overlapped = 0;
  double communication = 0;
  double free = 0;
  double stage = 0;   ///< extent of the busy and free intervals of the step, without `bubble`
  double bubble = 0;  ///< waiting to receive
  double exposed_without_receive = 0;
  double preparing = 0;  ///< start of the step on the host to its first device work
};

/// kText sums the intervals of Session.activities, as step_trace_time.csv does; kDatabase those of
/// the operations, as the table StepTraceTime of analysis.db does. They differ in free and stage.
enum class StepTimeForm { kText, kDatabase };

/// In order of the steps.
std::vector<StepTime> StepTimes(const Session& session, StepTimeForm form);

}  // namespace mpa::raw
