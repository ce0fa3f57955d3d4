// SPDX-License-Identifier: Apache-2.0
#include "trace_mstx.h"

#include <cstdint>

namespace mpa::readers {

MstxArgs ReadMstxArgs(const TraceEvent& event, EscapedTexts& texts) {
  MstxArgs found;
  for (const EventArg& arg : event.args) {
    if (arg.key == "event_type") found.kind = MstxKindOf(arg.value);
    if (arg.key == "domain") found.domain = texts.Intern(arg);
  }
  return found;
}

void MstxTrace::Add(const MstxArgs& args, const EventPlace& place, TimeNs dur, StringId message,
                    RankTrace& trace) {
  if (!args.kind) return;
  trace.mstx.Append({.start = place.start,
                     .dur = dur,
                     .kind = *args.kind,
                     .message = message,
                     .domain = args.domain});
  places_.push_back(place);
}

void MstxTrace::Place(TrackNumbers& tracks, RankTrace& trace) const {
  if (places_.empty()) return;
  const HostThreads threads(trace);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const std::int32_t track = threads.Find(places_[i].pid, places_[i].tid);
    trace.mstx.track[i] = track >= 0 ? track : tracks.Of(places_[i].pid, places_[i].tid);
  }
}

}  // namespace mpa::readers
