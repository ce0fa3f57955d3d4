// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/table_base.h"

/// Training steps, and how the profiler divided their time.
namespace mpa {

/// Iterations: the span of ProfilerStep#id on the host.
struct Steps : TableBase<Steps> {
  struct Row {
    std::int32_t id = -1;
    TimeNs start = 0, end = 0;
  };
  std::vector<std::int32_t> id;
  std::vector<TimeNs> start, end;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.id, t.start, t.end);
  }
};

/// The contents of step_trace_time.csv or of the table StepTraceTime for one step.
struct StepTimes : TableBase<StepTimes> {
  struct Row {
    std::int32_t step = -1;
    TimeNs computing = 0, exposed_communication = 0, communication = 0, free = 0;
    TimeNs overlapped = 0;  ///< communication that overlaps computing
    TimeNs stage = 0;       ///< the step without `bubble`
    TimeNs bubble = 0;      ///< waiting to receive
    TimeNs exposed_without_receive = 0;
    TimeNs preparing = 0;  ///< start of the step on the host to its first device work
  };
  std::vector<std::int32_t> step;
  std::vector<TimeNs> computing, exposed_communication, communication, free;
  std::vector<TimeNs> overlapped, stage, bubble, exposed_without_receive, preparing;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.step, t.computing, t.exposed_communication, t.communication, t.free,
                    t.overlapped, t.stage, t.bubble, t.exposed_without_receive, t.preparing);
  }
};

}  // namespace mpa
