// SPDX-License-Identifier: Apache-2.0
// What the trace readers share when they join their fragments into a RankTrace.
#include "trace_builder.h"

#include <limits>

#include "mpa/io/numbers.h"

namespace mpa::readers {

std::int32_t TrackNumbers::Of(std::int64_t pid, std::int64_t tid) {
  const auto [found, is_new] =
      numbers_.try_emplace({pid, tid}, static_cast<std::int32_t>(tracks_.Size()));
  if (is_new) tracks_.Append({.pid = pid, .tid = tid});
  return found->second;
}

void AppendLaunches(const std::vector<FlowPoint>& points, TrackNumbers& tracks, RankTrace& trace) {
  struct Flow {
    const FlowPoint* start = nullptr;
    const FlowPoint* end = nullptr;
  };
  std::vector<Flow> flows;
  std::unordered_map<std::int64_t, std::size_t> flow_of_id;
  for (const FlowPoint& point : points) {
    const auto [found, is_new] = flow_of_id.try_emplace(point.id, flows.size());
    if (is_new) flows.emplace_back();
    (point.is_end ? flows[found->second].end : flows[found->second].start) = &point;
  }
  std::int64_t link = 0;
  for (const Flow& flow : flows) {
    if (flow.start == nullptr || flow.end == nullptr) continue;
    trace.launches.Append({.link = link++,
                           .host_time = flow.start->time,
                           .host_track = tracks.Of(flow.start->pid, flow.start->tid),
                           .device_time = flow.end->time,
                           .stream = flow.end->tid});
  }
}

namespace {

// Appends a step when `name` contains "ProfilerStep#<number>".
void AppendStep(std::string_view name, TimeNs start, TimeNs dur, RankTrace& trace) {
  constexpr std::string_view kMark = "ProfilerStep#";
  const std::size_t at = name.find(kMark);
  if (at == std::string_view::npos) return;
  const auto id = io::ParseInt(name.substr(at + kMark.size()));
  if (!id || *id < 0 || *id > std::numeric_limits<std::int32_t>::max()) return;
  trace.steps.Append({.id = static_cast<std::int32_t>(*id), .start = start, .end = start + dur});
}

}  // namespace

StringId StringMapping::operator[](StringId id) {
  std::optional<StringId>& mapped = ids_[Index(id)];
  if (!mapped) mapped = to_.Intern(from_.View(id));
  return *mapped;
}

void AppendHostOps(const std::vector<HostEvent>& events, StringMapping& texts, TrackNumbers& tracks,
                   RankTrace& trace) {
  for (const HostEvent& event : events) {
    const StringId name = texts[event.name];
    trace.host_ops.Append({.start = event.start,
                           .dur = event.dur,
                           .name = name,
                           .track = tracks.Of(event.pid, event.tid)});
    AppendStep(trace.strings.View(name), event.start, event.dur, trace);
  }
}

}  // namespace mpa::readers
