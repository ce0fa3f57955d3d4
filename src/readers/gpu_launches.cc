// SPDX-License-Identifier: Apache-2.0
// Which call on the host launched which work of a GPU.
#include "gpu_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/nesting.h"

namespace mpa::readers {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

using Places = std::vector<std::pair<std::int64_t, EventPlace>>;

bool ByNumberAndTime(const Places::value_type& a, const Places::value_type& b) {
  return std::tie(a.first, a.second.start) < std::tie(b.first, b.second.start);
}

void Sort(Places& places) {
  std::ranges::sort(places, [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second.start, a.second) <
           std::tie(b.first, b.second.start, b.second);
  });
}

// Of those with the number the last that is not behind `time`, else the first.
std::optional<EventPlace> LastBefore(const Places& places, std::int64_t number, TimeNs time) {
  const auto later = std::upper_bound(places.begin(), places.end(),
                                      Places::value_type{number, {.start = time}}, ByNumberAndTime);
  if (later != places.begin() && std::prev(later)->first == number) return std::prev(later)->second;
  if (later != places.end() && later->first == number) return later->second;
  return std::nullopt;
}

}  // namespace

CallKind KindOfCall(std::string_view name) {
  if (ContainsAny(name, {"BeginCapture"})) return CallKind::kCaptureBegins;
  if (ContainsAny(name, {"EndCapture"})) return CallKind::kCaptureEnds;
  if (ContainsAny(name, {"GraphLaunch"})) return CallKind::kGraphLaunch;
  const bool launches =
      ContainsAny(name, {"Launch", "Memcpy"}) && !ContainsAny(name, {"HostFunc", "Node", "Params"});
  return launches ? CallKind::kLaunch : CallKind::kOther;
}

GpuLaunches::GpuLaunches(const std::vector<FlowPoint>& arrows,
                         const std::vector<RuntimeCall>& calls, bool arrows_decide)
    : arrows_decide_(arrows_decide) {
  for (const FlowPoint& point : arrows) {
    if (!point.is_end) starts_.push_back({point.id, {point.pid, point.tid, point.time}});
  }
  Sort(starts_);
  for (const RuntimeCall& call : calls) {
    if (call.correlation >= 0) calls_.push_back({call.correlation, call.place});
  }
  Sort(calls_);
  for (const FlowPoint& point : arrows) {
    if (!point.is_end) continue;
    const auto start = LastBefore(starts_, point.id, point.time);
    if (!start) continue;
    ends_.push_back({{point.pid, point.tid, point.time}, *start, point.id});
  }
  std::ranges::sort(ends_);
  for (const ArrowEnd& end : ends_)
    launches_.push_back({end.start, end.place.start, end.place.tid});
}

std::optional<GpuLaunches::Source> GpuLaunches::FindSource(const CorrelatedEvent& work) const {
  const auto arrow =
      std::lower_bound(ends_.begin(), ends_.end(), ArrowEnd{work.place, {kMin, kMin, kMin}, kMin});
  const auto by_arrow = [&](auto at) { return Source{at->start, at - ends_.begin()}; };
  const bool has_arrow = arrow != ends_.end() && arrow->place == work.place;
  if (has_arrow && arrows_decide_) return by_arrow(arrow);
  for (auto at = arrow; at != ends_.end() && at->place == work.place; ++at) {
    if (at->id == work.correlation) return by_arrow(at);
  }
  const auto from = [&](const Places& places) -> std::optional<Source> {
    const auto place = LastBefore(places, work.correlation, work.place.start);
    return place ? std::optional(Source{*place}) : std::nullopt;
  };
  if (work.correlation >= 0) {
    if (const auto call = from(calls_)) return call;
  }
  if (has_arrow) return by_arrow(arrow);
  return work.correlation < 0 ? std::nullopt : from(starts_);
}

std::optional<EventPlace> GpuLaunches::Find(const CorrelatedEvent& work) const {
  const auto source = FindSource(work);
  return source ? std::optional(source->host) : std::nullopt;
}

bool GpuLaunches::HasOneProcess() const {
  std::optional<std::int64_t> pid;
  for (const Places* places : {&starts_, &calls_}) {
    for (const auto& [number, place] : *places) {
      if (pid.value_or(place.pid) != place.pid) return false;
      pid = place.pid;
    }
  }
  return true;
}

void GpuLaunches::Link(const std::vector<CorrelatedEvent>& work, std::vector<std::int64_t>& links) {
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto source = FindSource(work[i]);
    if (!source) continue;
    links[i] = source->arrow;
    if (source->arrow >= 0) continue;
    links[i] = static_cast<std::int64_t>(launches_.size());
    launches_.push_back({source->host, work[i].place.start, work[i].place.tid});
  }
}

void GpuLaunches::Append(TrackNumbers& tracks, RankTrace& trace,
                         const std::vector<std::vector<std::int64_t>*>& linked) const {
  const auto in_order = RowsBy(launches_.size(), [&](std::size_t i) {
    const Launch& launch = launches_[i];
    return std::tie(launch.host.start, launch.host, launch.device_time, launch.stream);
  });
  std::vector<std::int64_t> row_of(launches_.size());
  const EventPlace* last = nullptr;
  for (const std::size_t i : in_order) {
    const Launch& launch = launches_[i];
    if (last == nullptr || *last != launch.host) {
      trace.launches.Append({.link = static_cast<std::int64_t>(trace.launches.Size()),
                             .host_time = launch.host.start,
                             .host_track = tracks.Of(launch.host.pid, launch.host.tid),
                             .device_time = launch.device_time,
                             .stream = launch.stream});
    }
    last = &launch.host;
    row_of[i] = static_cast<std::int64_t>(trace.launches.Size()) - 1;
  }
  for (std::vector<std::int64_t>* links : linked) {
    for (std::int64_t& link : *links) {
      if (link >= 0) link = row_of[static_cast<std::size_t>(link)];
    }
  }
}

// Traces that hold the work of several devices, or of several processes.

namespace {

bool IsOfOneDevice(const GpuWork& work) {
  std::int64_t device = -1;
  for (const auto* events : {&work.kernels, &work.communications, &work.tasks}) {
    if (events->empty()) continue;
    if (device < 0) device = events->front().device;
    for (const CorrelatedEvent& event : *events) {
      if (event.device != device) return false;
    }
  }
  return true;
}

// Keeps the rows of a table, and their events, for which keep(event) holds.
template <typename Table, typename Keep>
void KeepRows(std::vector<CorrelatedEvent>& events, Table& table, Keep keep) {
  table.Filter([&](std::size_t row) { return keep(events[row]); });
  std::erase_if(events, [&](const CorrelatedEvent& event) { return !keep(event); });
}

template <typename Keep>
void KeepWork(GpuWork& work, RankTrace& trace, Keep keep) {
  KeepRows(work.kernels, trace.kernels, keep);
  KeepRows(work.communications, trace.communications, keep);
  KeepRows(work.tasks, trace.device_tasks, keep);
}

// The number with most pieces of work; of several the least. Also counts those of the others.
template <typename NumberOf>
std::int64_t Most(const GpuWork& work, std::map<std::int64_t, std::int64_t>& pieces,
                  NumberOf number_of) {
  for (const auto* events : {&work.kernels, &work.communications, &work.tasks}) {
    for (const CorrelatedEvent& event : *events) {
      const std::int64_t number = number_of(event);
      if (number >= 0) ++pieces[number];
    }
  }
  std::int64_t most = -1;
  for (const auto& [number, count] : pieces) {
    if (most < 0 || count > pieces[most]) most = number;
  }
  return most;
}

}  // namespace

void KeepOneDevice(const GpuLaunches& launches, std::string_view file_name, GpuWork& work,
                   RankTrace& trace) {
  const auto count = [&](std::string_view what, std::string_view kind, auto of_other,
                         std::int64_t kept) {
    trace.issues.Count(Promise::kOneDevice, what,
                       Say("{}: {} {} with {} pieces of work, in place of {}", file_name, Translated(kind),
                           of_other.first, of_other.second, kept));
  };
  std::map<std::int64_t, std::int64_t> pieces;
  if (IsOfOneDevice(work) && launches.HasOneProcess()) return;
  const auto device_of = [](const CorrelatedEvent& event) { return event.device; };
  const std::int64_t device = Most(work, pieces, device_of);
  if (pieces.size() > 1) {
    for (const auto& other : pieces) {
      if (other.first == device) continue;
      count("work of another device left out, the trace holds several", "device", other, device);
    }
    KeepWork(work, trace, [&](const CorrelatedEvent& event) { return event.device == device; });
  }
  const auto process_of = [&](const CorrelatedEvent& event) {
    const auto host = launches.Find(event);
    return host ? host->pid : -1;
  };
  if (launches.HasOneProcess()) return;
  pieces.clear();
  const std::int64_t process = Most(work, pieces, process_of);
  if (pieces.size() < 2) return;
  std::set<std::int64_t> others;
  for (const auto& other : pieces) {
    if (other.first == process) continue;
    others.insert(other.first);
    count("work of another process left out, the trace holds several ranks", "process", other,
          process);
  }
  KeepWork(work, trace,
           [&](const CorrelatedEvent& event) { return !others.contains(process_of(event)); });
  DropProcesses(others, trace);
}

// Kernels of GPUs that communicate, known by the operators that launched them.

namespace {

// Calls of the runtime stand among the operators.
bool IsCall(std::string_view op) {
  return op.starts_with("cuda") || op.starts_with("hip") || op.starts_with("cuLaunch") ||
         op.starts_with("xpu") || op.starts_with("urEnqueue");
}

// By text, whether it names such an operator.
std::vector<bool> NamesThatCommunicate(const RankTrace& trace) {
  std::vector<bool> communicates(trace.strings.Size(), false);
  for (std::size_t i = 0; i < communicates.size(); ++i) {
    communicates[i] = IsOperatorOfCollective(trace.strings.View(static_cast<StringId>(i)));
  }
  return communicates;
}

// The kernels that were launched while an operator of communication ran on the thread; few are.
std::vector<std::size_t> Candidates(const RankTrace& trace, const std::vector<bool>& communicates) {
  std::map<std::int32_t, Intervals> running;  // by thread
  for (std::size_t i = 0; i < trace.host_ops.Size(); ++i) {
    if (!communicates[Index(trace.host_ops.name[i])]) continue;
    const TimeNs start = trace.host_ops.start[i];
    running[trace.host_ops.track[i]].push_back({start, start + trace.host_ops.dur[i]});
  }
  for (auto& [track, spans] : running) spans = Union(std::move(spans));
  std::vector<std::size_t> found;
  if (running.empty()) return found;
  for (std::size_t i = 0; i < trace.kernels.Size(); ++i) {
    if (trace.kernels.link[i] < 0) continue;
    const auto launch = static_cast<std::size_t>(trace.kernels.link[i]);  // links are rows
    const auto spans = running.find(trace.launches.host_track[launch]);
    if (spans != running.end() && Contains(spans->second, trace.launches.host_time[launch])) {
      found.push_back(i);
    }
  }
  return found;
}

}  // namespace

bool IsOperatorOfCollective(std::string_view op) {
  return op.starts_with("c10d::") || op.starts_with("_c10d_functional::") ||
         op.starts_with("nccl:") || op == kCollectiveOperator;
}

void CountLackOfCollectives(std::string_view file_name, RankTrace& trace) {
  if (!trace.communications.Empty()) return;
  const std::vector<bool> communicates = NamesThatCommunicate(trace);
  const auto op = std::ranges::find_if(trace.host_ops.name,
                                       [&](StringId name) { return communicates[Index(name)]; });
  if (op == trace.host_ops.name.end()) return;
  trace.issues.Count(Promise::kCommunicationRecorded,
                     "operators communicate, but the trace holds no collectives of the device",
                     fmt::format("{}: {}", file_name, trace.strings.View(*op)));
}

void MoveCollectives(RankTrace& trace) {
  const std::vector<bool> communicates = NamesThatCommunicate(trace);
  const std::vector<std::size_t> candidates = Candidates(trace, communicates);
  if (candidates.empty()) return;
  const Nesting ops(OpSpans(trace));
  const auto is_collective = [&](std::size_t kernel) {
    const auto launch = static_cast<std::size_t>(trace.kernels.link[kernel]);
    auto op = ops.Find(trace.launches.host_track[launch], trace.launches.host_time[launch]);
    const auto name_of = [&] { return trace.host_ops.name[static_cast<std::size_t>(op)]; };
    while (op != Nesting::kNone && IsCall(trace.strings.View(name_of()))) {
      op = ops.Parent(static_cast<std::size_t>(op));
    }
    return op != Nesting::kNone && communicates[Index(name_of())];
  };
  std::vector<bool> stays(trace.kernels.Size(), true);
  for (const std::size_t i : candidates) {
    if (!is_collective(i)) continue;
    stays[i] = false;
    const StringId name = trace.kernels.name[i];
    trace.communications.Append({.start = trace.kernels.start[i],
                                 .dur = trace.kernels.dur[i],
                                 .name = name,
                                 .op_type = name,
                                 .link = trace.kernels.link[i]});
  }
  trace.kernels.Filter([&](std::size_t i) { return stays[i]; });
}

}  // namespace mpa::readers
