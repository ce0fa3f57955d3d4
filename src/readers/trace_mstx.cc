// SPDX-License-Identifier: Apache-2.0
#include "trace_mstx.h"

#include <cstdint>
#include <unordered_map>

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
  std::unordered_map<std::int64_t, std::int32_t> track_of_tid;
  const auto note = [&](const std::vector<std::int32_t>& rows) {
    for (const std::int32_t track : rows) {
      track_of_tid.try_emplace(trace.tracks.tid[static_cast<std::size_t>(track)], track);
    }
  };
  note(trace.host_ops.track);
  note(trace.queued_work.track);
  note(trace.python_calls.track);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto found = track_of_tid.find(places_[i].tid);
    trace.mstx.track[i] =
        found != track_of_tid.end() ? found->second : tracks.Of(places_[i].pid, places_[i].tid);
  }
}

}  // namespace mpa::readers
