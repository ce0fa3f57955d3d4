// SPDX-License-Identifier: Apache-2.0
#include "trace_mstx.h"

#include <cstdint>

#include "trace_events.h"

namespace mpa::readers {

void MstxTrace::Add(std::string_view args, const EventPlace& place, TimeNs dur, StringId message,
                    RankTrace& trace) {
  if (args.find("\"event_type\"") == std::string_view::npos) return;
  const auto kind = MstxKindOf(MemberText(args, "event_type"));
  if (!kind) return;
  trace.mstx.Append({.start = place.start,
                     .dur = dur,
                     .kind = *kind,
                     .message = message,
                     .domain = trace.strings.Intern(MemberText(args, "domain"))});
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
