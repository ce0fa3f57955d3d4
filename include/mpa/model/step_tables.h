// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpa/base/time.h"
#include "mpa/model/table.h"

/// Training steps, and how the profiler divided their time.
namespace mpa {

/// Iterations: the span of ProfilerStep#id on the host.
template <template <typename> class Of>
struct StepFields {
  Of<std::int32_t> id = Initially{-1};
  Of<TimeNs> start{}, end{};
};
struct Steps : Table<StepFields> {};

/// The contents of step_trace_time.csv or of the table StepTraceTime for one step.
template <template <typename> class Of>
struct StepTimeFields {
  Of<std::int32_t> step = Initially{-1};
  Of<TimeNs> computing{}, exposed_communication{}, communication{}, free{};
  Of<TimeNs> overlapped{};  ///< communication that overlaps computing
  Of<TimeNs> stage{};       ///< the step without `bubble`
  Of<TimeNs> bubble{};      ///< waiting to receive
  Of<TimeNs> exposed_without_receive{};
  Of<TimeNs> preparing{};  ///< start of the step on the host to its first device work
};
struct StepTimes : Table<StepTimeFields> {};

}  // namespace mpa
