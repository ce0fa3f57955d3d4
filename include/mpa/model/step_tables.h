// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// Steps, of training or of a server, and how the profiler divided their time.
namespace mpa {

/// Iterations: the span of ProfilerStep#id on the host.
template <template <typename> class Of>
struct StepFields {
  Of<std::int32_t> id = Initially{-1};
  Of<TimeNs> start{}, end{};
  // Of raw captures alone.
  /// From the first device work that it launched to the end of the last, at least to `end`; -1: it
  /// launched none.
  Of<TimeNs> device_start = Initially{-1}, device_end = Initially{-1};
  Of<std::int32_t> op = Initially{-1};  ///< its row among the operators of the framework
};
struct Steps : Table<StepFields> {};

/// Ranges of the host, operators among them, by which a server that answers requests names its
/// steps: "step[DECODE bs=32]". One may lie within another. See mpa/model/serving_batch.h.
template <template <typename> class Of>
struct ServingMarkFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{};
  /// Tokens for which the graph was captured that the range replays, where the name does not say
  /// so; -1: it replays none, or not known.
  Of<std::int64_t> graph_tokens = Initially{-1};
  /// Of a range without such a name: its ServingPhase, and its tokens; -1: the name tells.
  Of<std::int8_t> phase = Initially{-1};
  Of<std::int64_t> tokens = Initially{-1};
};
struct ServingMarks : Table<ServingMarkFields> {};

/// The contents of step_trace_time.csv or of the table StepTraceTime for one step.
template <template <typename> class Of>
struct StepTimeFields {
  Of<std::int32_t> step = Initially{-1};
  Of<TimeNs> computing{}, exposed_communication{}, communication{}, free{};
  Of<TimeNs> overlapped{};  ///< communication that overlaps computing
  Of<TimeNs> stage{};       ///< the step without `bubble`
  Of<TimeNs> bubble{};      ///< waiting to receive
  Of<TimeNs> exposed_without_receive{};
  Of<TimeNs> preparing{};  ///< start of the step on the host to its first device work; -1: unknown
};
struct StepTimes : Table<StepTimeFields> {};

}  // namespace mpa
