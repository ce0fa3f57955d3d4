// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mpa/measure/intervals.h"
#include "mpa/model/rank_trace.h"

namespace mpa::head {

/// "vLLM" for a Python function of its packages, "vllm/v1/engine/core.py(342): step", for one of
/// its operators and for the names that it gives its steps; likewise "SGLang" and "MindIE". Empty
/// for everything else.
std::string_view ServingFrameworkOf(std::string_view name);

/// The events of serving frameworks on the host: operators and named stretches, Python functions,
/// ranges of msServiceProfiler.
class ServingEvents {
 public:
  /// Needs host_ops, python_calls and mstx. Refers to the rank, which must outlive it.
  explicit ServingEvents(const RankTrace& trace);

  /// False: nothing tells the time of a serving framework from that of a script.
  bool Any() const { return !names_.empty(); }
  /// The time within the window that the thread spends in them.
  Intervals Within(std::int32_t track, const Interval& window) const;

  /// A stretch in which no other event of the framework runs within this one.
  struct Piece {
    StringId name{};
    Interval time;
    bool first = false;  ///< of its event within the window
  };
  std::vector<Piece> PiecesWithin(std::int32_t track, const Interval& window) const;

 private:
  // When an event was the innermost that ran.
  struct OpenTime {
    std::uint32_t event = 0;
    Interval time;
  };
  std::vector<StringId> names_;                        // by event
  std::vector<std::vector<OpenTime>> times_of_track_;  // in order of time
};

}  // namespace mpa::head
