// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "mpa/model/rank_trace.h"
#include "trace_builder.h"
#include "trace_events.h"

namespace mpa::readers {

/// The args of a mark or range; empty for other events.
struct MstxArgs {
  std::optional<MstxKind> kind;
  StringId domain{};
};

MstxArgs ReadMstxArgs(const TraceEvent& event, EscapedTexts& texts);

/// Collects the program's own marks and ranges from the events of a trace. They are in a separate
/// process, not in that of the runtime.
class MstxTrace {
 public:
  /// Appends the event to trace.mstx if its args identify it as one. Texts are those of the rank.
  void Add(const MstxArgs& args, const EventPlace& place, TimeNs dur, StringId message,
           RankTrace& trace);
  /// Ties the events to the device tasks that an arrow leads to. `task_places` tells where the
  /// tasks of the trace are.
  void Link(const std::vector<FlowPoint>& arrows, const std::vector<EventPlace>& task_places,
            RankTrace& trace) const;
  /// Gives the events their threads: the process is one of the viewer's own, the thread is that of
  /// the program. To be called when all operators are there.
  void Place(TrackNumbers& tracks, RankTrace& trace) const;

 private:
  std::vector<EventPlace> places_;  // of the rows that were appended
};

}  // namespace mpa::readers
