// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/rank_trace.h"
#include "sums.h"

namespace mpa::recipes::mstx {

/// How long something took that the program marked: between two marks `x_start` and `x_stop`, or in
/// a range. Times that the capture does not tell are empty.
struct MarkedSpan {
  std::uint32_t name = 0;  ///< position in MarkedSpans::names
  std::int32_t step = 0;   ///< 0: it lies in none
  TimeNs start = 0;        ///< on the host
  TimeNs cann = 0;         ///< between the calls of the runtime
  std::optional<TimeNs> device;
  /// Between the operators that set the marks; 0 of a range, whose end has none.
  std::optional<TimeNs> framework;
};

/// What a rank comes to.
struct MarkedSpans {
  std::vector<std::string> names;  ///< ranges within ranges: "step::forward"
  std::vector<MarkedSpan> spans;   ///< in order of start
  std::int64_t unpaired = 0;       ///< marks `x_start` without `x_stop`, and the other way round
  std::string unpaired_mark;       ///< the first of them
  std::int64_t left_out = 0;       ///< ranges that nothing on the device refers to
  std::int64_t outside = 0;        ///< spans outside of every step, where there are steps
};

/// The marks and ranges of a rank. `all_ranges`: with those that nothing on the device refers to.
/// Ranges are nested within their thread and domain, by containment.
MarkedSpans FindMarkedSpans(const RankTrace& trace, bool all_ranges);

using MarkedRanks = std::vector<OfRank<MarkedSpans>>;

}  // namespace mpa::recipes::mstx
