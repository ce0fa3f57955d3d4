// SPDX-License-Identifier: Apache-2.0
// The common functions of the trace readers for joining their fragments into a RankTrace.
#include "trace_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "mpa/base/language.h"
#include "mpa/io/numbers.h"
#include "mpa/model/serving_batch.h"

namespace mpa::readers {

TrackNumbers::TrackNumbers(Tracks& tracks) : tracks_(tracks) {
  for (std::size_t i = 0; i < tracks.Size(); ++i) {
    numbers_[{tracks.pid[i], tracks.tid[i]}] = static_cast<std::int32_t>(i);
  }
}

std::int32_t TrackNumbers::Of(std::int64_t pid, std::int64_t tid) {
  if (number_of_last_ >= 0 && last_ == Key(pid, tid)) return number_of_last_;
  const auto [found, is_new] =
      numbers_.try_emplace({pid, tid}, static_cast<std::int32_t>(tracks_.Size()));
  if (is_new) tracks_.Append({.pid = pid, .tid = tid});
  last_ = found->first;
  return number_of_last_ = found->second;
}

HostThreads::HostThreads(const RankTrace& trace) {
  std::vector<bool> seen(trace.tracks.Size(), false);
  const auto note = [&](const std::vector<std::int32_t>& rows) {
    for (const std::int32_t row : rows) {
      const auto track = static_cast<std::size_t>(row);
      if (row < 0 || seen[track]) continue;
      seen[track] = true;
      tracks_[trace.tracks.tid[track]].try_emplace(trace.tracks.pid[track], row);
      pids_.insert(trace.tracks.pid[track]);
    }
  };
  note(trace.host_ops.track);
  note(trace.queued_work.track);
  note(trace.python_calls.track);
}

std::int32_t HostThreads::Find(std::int64_t viewer_pid, std::int64_t tid) const {
  const auto found = tracks_.find(tid);
  if (found == tracks_.end()) return -1;
  const auto of_process = found->second.find(viewer_pid >> kViewerBits);
  if (of_process != found->second.end()) return of_process->second;
  return found->second.size() == 1 && !IsDerived(viewer_pid) ? found->second.begin()->second : -1;
}

std::int64_t HostThreads::OwnerOf(std::int64_t viewer_pid) const {
  if (IsDerived(viewer_pid)) return viewer_pid >> kViewerBits;
  return pids_.size() == 1 ? *pids_.begin() : -1;
}

bool HostThreads::IsDerived(std::int64_t viewer_pid) const {
  return pids_.contains(viewer_pid >> kViewerBits);
}

namespace {

struct Flow {
  const FlowPoint* start = nullptr;
  const FlowPoint* end = nullptr;
  bool from_end = false;   ///< its end comes first in the file
  std::size_t before = 0;  ///< one more than the flow before it that waits for the same start

  bool IsComplete() const { return start != nullptr && end != nullptr; }
};

std::string PlaceOf(const FlowPoint& point) {
  return Say("process {} thread {} at {}.{:03} us", point.pid, point.tid, point.time / 1000,
             point.time % 1000);
}

// The flows in order of first appearance. Exporters number arrows by the times at
// which they end, so flows with one number follow each other. Of several ends with one start each
// is a flow; of several starts with one end the last counts.
std::vector<Flow> FlowsOf(const std::vector<FlowPoint>& points) {
  std::vector<Flow> flows;
  std::unordered_map<std::int64_t, std::size_t> flow_of_id;
  for (const FlowPoint& point : points) {
    const auto [found, is_new] = flow_of_id.try_emplace(point.id, flows.size());
    if (!is_new) {
      const Flow& last = flows[found->second];
      if (last.IsComplete() && last.from_end == point.is_end) found->second = flows.size();
    }
    if (found->second < flows.size() && point.is_end && flows[found->second].end != nullptr) {
      Flow further = flows[found->second];
      if (!further.IsComplete()) further.before = found->second + 1;
      found->second = flows.size();
      flows.push_back(further);
    }
    if (found->second == flows.size()) flows.push_back({.from_end = point.is_end});
    Flow* flow = &flows[found->second];
    (point.is_end ? flow->end : flow->start) = &point;
    while (!point.is_end && flow->before > 0) {
      flow = &flows[flow->before - 1];
      flow->start = &point;
    }
  }
  return flows;
}

// Those with both ends; the others are counted.
std::vector<Flow> CompleteFlows(const std::vector<FlowPoint>& points, std::string_view what,
                                Issues& issues) {
  std::vector<Flow> flows = FlowsOf(points);
  for (const Flow& flow : flows) {
    if (flow.IsComplete()) continue;
    const FlowPoint& end = flow.start == nullptr ? *flow.end : *flow.start;
    issues.Count(Promise::kArrowsHaveEnds,
                 Say("arrow left out, its other end is missing, {}; copy or parse the"
                     " capture again",
                     Translated(what)),
                 PlaceOf(end));
  }
  std::erase_if(flows, [](const Flow& flow) { return !flow.IsComplete(); });
  return flows;
}

// Clocks of host and device are set by the microsecond; what is said of single launches is not.
constexpr TimeNs kClockError = 100'000;

}  // namespace

void LaunchFlows::Append(const std::vector<FlowPoint>& points, TrackNumbers& tracks,
                         RankTrace& trace) {
  std::int64_t link = 0;
  for (const Flow& flow : FlowsOf(points)) {
    if (flow.end == nullptr) {
      trace.unanswered_launches.Append(
          {.time = flow.start->time, .track = tracks.Of(flow.start->pid, flow.start->tid)});
      continue;
    }
    if (flow.start == nullptr) {
      trace.issues.Count(Promise::kArrowsHaveEnds,
                         "work of the device is of no operator, the launch at the other end of its"
                         " arrow is missing; copy or parse the capture again",
                         PlaceOf(*flow.end));
      continue;
    }
    if (flow.end->time + kClockError < flow.start->time) {
      trace.issues.Count(
          Promise::kWorkAfterLaunch,
          "launch of an operator left out, its work begins before it; collect again",
          Say("{}, {} us before", PlaceOf(*flow.end), (flow.start->time - flow.end->time) / 1000));
      continue;
    }
    ends_.push_back({{flow.end->pid, flow.end->tid, flow.end->time}, link});
    trace.launches.Append({.link = link++,
                           .host_time = flow.start->time,
                           .host_track = tracks.Of(flow.start->pid, flow.start->tid),
                           .device_time = flow.end->time,
                           .stream = flow.end->tid});
  }
  std::ranges::sort(ends_);
  linked_.assign(ends_.size(), false);
}

void LaunchFlows::Link(const std::vector<EventPlace>& places, std::vector<std::int64_t>& links) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto found =
        std::lower_bound(ends_.begin(), ends_.end(), std::pair{places[i], std::int64_t{0}});
    if (found == ends_.end() || found->first != places[i]) continue;
    links[i] = found->second;
    linked_[static_cast<std::size_t>(found - ends_.begin())] = true;
  }
}

std::vector<EventPlace> LaunchFlows::EndsWithoutEvent() const {
  std::vector<EventPlace> ends;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    // Of several launches with one end the first is linked.
    if (!linked_[i] && (i == 0 || ends_[i].first != ends_[i - 1].first))
      ends.push_back(ends_[i].first);
  }
  return ends;
}

void AppendUnanswered(const std::vector<FlowPoint>& points, TrackNumbers& tracks,
                      RankTrace& trace) {
  std::vector<Flow> flows = FlowsOf(points);
  std::erase_if(flows, [](const Flow& flow) { return flow.start == nullptr; });
  const auto first =
      std::ranges::min_element(flows, {}, [](const Flow& flow) { return flow.start->time; });
  for (auto flow = flows.begin(); flow != flows.end(); ++flow) {
    // Work that ended before the collection began is not exported, the call that launched it is.
    if (flow->end != nullptr || flow == first) continue;
    trace.unanswered_launches.Append(
        {.time = flow->start->time, .track = tracks.Of(flow->start->pid, flow->start->tid)});
  }
}

void AppendBackwardLinks(const std::vector<FlowPoint>& points, TrackNumbers& tracks,
                         RankTrace& trace) {
  for (const Flow& flow :
       CompleteFlows(points, "which backward pass is of which operator is unknown", trace.issues)) {
    trace.backward_links.Append({.forward_time = flow.start->time,
                                 .forward_track = tracks.Of(flow.start->pid, flow.start->tid),
                                 .backward_time = flow.end->time,
                                 .backward_track = tracks.Of(flow.end->pid, flow.end->tid)});
  }
}

void AppendQueuedWork(const std::vector<QueueEvent>& events, TrackNumbers& tracks,
                      RankTrace& trace) {
  std::vector<const QueueEvent*> demands;  // by id; of equal ones the last one counts
  demands.reserve(events.size());
  for (const QueueEvent& event : events) {
    if (!event.is_work) demands.push_back(&event);
  }
  if (!std::ranges::is_sorted(demands, {}, &QueueEvent::id))
    std::ranges::stable_sort(demands, {}, &QueueEvent::id);
  trace.queued_work.Reserve(demands.size());
  for (const QueueEvent& event : events) {
    if (!event.is_work) continue;
    const auto after = std::ranges::upper_bound(demands, event.id, {}, &QueueEvent::id);
    if (after == demands.begin() || (*std::prev(after))->id != event.id) continue;
    const QueueEvent& asked = **std::prev(after);
    trace.queued_work.Append({.queued = asked.start,
                              .queued_track = tracks.Of(asked.pid, asked.tid),
                              .start = event.start,
                              .dur = event.dur,
                              .track = tracks.Of(event.pid, event.tid),
                              .name = event.name,
                              .queued_dur = asked.dur});
  }
}

std::optional<MstxKind> MstxKindOf(std::string_view name) {
  if (name == "marker" || name == "marker_ex") return MstxKind::kMark;
  if (name == "push/pop") return MstxKind::kPushPop;
  if (name == "start/end") return MstxKind::kStartEnd;
  return std::nullopt;
}

void AppendStep(std::string_view name, TimeNs start, TimeNs dur, RankTrace& trace) {
  constexpr std::string_view kMark = "ProfilerStep#";
  const std::size_t at = name.find(kMark);
  if (at == std::string_view::npos) return;
  const auto id = io::ParseInt(name.substr(at + kMark.size()));
  if (!id || *id < 0 || *id > std::numeric_limits<std::int32_t>::max()) return;
  trace.steps.Append({.id = static_cast<std::int32_t>(*id), .start = start, .end = start + dur});
}

void AppendServingMark(std::string_view name, TimeNs start, TimeNs dur, RankTrace& trace) {
  if (!ReadServingName(name)) return;
  trace.serving_marks.Append({.start = start, .dur = dur, .name = trace.strings.Intern(name)});
}

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
                           .track = tracks.Of(event.pid, event.tid),
                           .shapes = texts[event.shapes],
                           .types = texts[event.types],
                           .stack = texts[event.stack]});
    AppendStep(trace.strings.View(name), event.start, event.dur, trace);
  }
}

void AppendPythonCalls(const std::vector<HostEvent>& events, StringMapping& texts,
                       TrackNumbers& tracks, RankTrace& trace) {
  for (const HostEvent& event : events) {
    trace.python_calls.Append({.start = event.start,
                               .dur = event.dur,
                               .name = texts[event.name],
                               .track = tracks.Of(event.pid, event.tid)});
  }
}

void DropProcesses(const std::set<std::int64_t>& pids, RankTrace& trace) {
  if (pids.empty()) return;
  const auto is_kept = [&](std::int32_t track) {
    return track < 0 || !pids.contains(trace.tracks.pid[static_cast<std::size_t>(track)]);
  };
  trace.host_ops.Filter([&](std::size_t row) { return is_kept(trace.host_ops.track[row]); });
  trace.python_calls.Filter(
      [&](std::size_t row) { return is_kept(trace.python_calls.track[row]); });
  std::multiset<std::pair<TimeNs, TimeNs>> spans;
  for (std::size_t row = 0; row < trace.host_ops.Size(); ++row) {
    const TimeNs start = trace.host_ops.start[row];
    spans.emplace(start, start + trace.host_ops.dur[row]);
  }
  trace.steps.Filter([&](std::size_t row) {
    const auto span = spans.find({trace.steps.start[row], trace.steps.end[row]});
    if (span == spans.end()) return false;
    spans.erase(span);  // another rank may have the same
    return true;
  });
}

}  // namespace mpa::readers
