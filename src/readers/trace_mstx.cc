// SPDX-License-Identifier: Apache-2.0
#include "trace_mstx.h"

#include <cstdint>
#include <map>
#include <unordered_map>

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

void MstxTrace::Link(const std::vector<FlowPoint>& arrows,
                     const std::vector<EventPlace>& task_places, RankTrace& trace) const {
  if (places_.empty()) return;
  std::map<EventPlace, std::int64_t> arrow_at;          // from an event
  std::map<EventPlace, std::int64_t> arrow_to;          // to a task
  std::unordered_map<std::int64_t, std::size_t> tasks;  // by arrow
  for (const FlowPoint& point : arrows) {
    (point.is_end ? arrow_to : arrow_at).try_emplace({point.pid, point.tid, point.time}, point.id);
  }
  if (arrow_at.empty()) return;
  for (std::size_t i = 0; i < task_places.size() && !arrow_to.empty(); ++i) {
    const auto found = arrow_to.find(task_places[i]);
    if (found != arrow_to.end()) tasks.try_emplace(found->second, i);
  }
  MstxEvents& events = trace.mstx;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto arrow = arrow_at.find(places_[i]);
    if (arrow == arrow_at.end()) continue;
    events.link[i] = arrow->second;
    const auto task = tasks.find(arrow->second);
    if (task == tasks.end()) continue;
    events.device_start[i] = trace.device_tasks.start[task->second];
    events.device_dur[i] = trace.device_tasks.dur[task->second];
  }
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
