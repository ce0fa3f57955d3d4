// SPDX-License-Identifier: Apache-2.0
// Which call on the host launched which work of a GPU.
#include "gpu_launches.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace mpa::readers {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

using Places = std::vector<std::pair<std::int64_t, EventPlace>>;

bool ByNumberAndTime(const Places::value_type& a, const Places::value_type& b) {
  return std::pair{a.first, a.second.start} < std::pair{b.first, b.second.start};
}

void Sort(Places& places) {
  std::sort(places.begin(), places.end());
  std::stable_sort(places.begin(), places.end(), ByNumberAndTime);
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

GpuLaunches::GpuLaunches(const std::vector<FlowPoint>& arrows,
                         const std::vector<CorrelatedEvent>& calls, bool arrows_decide)
    : arrows_decide_(arrows_decide) {
  for (const FlowPoint& point : arrows) {
    if (!point.is_end) starts_.push_back({point.id, {point.pid, point.tid, point.time}});
  }
  Sort(starts_);
  for (const CorrelatedEvent& call : calls) {
    if (call.correlation >= 0) calls_.push_back({call.correlation, call.place});
  }
  Sort(calls_);
  for (const FlowPoint& point : arrows) {
    if (!point.is_end) continue;
    const auto start = LastBefore(starts_, point.id, point.time);
    if (!start) continue;
    ends_.push_back({{point.pid, point.tid, point.time}, *start, point.id});
    Note(*start, point.time, point.tid);
  }
  std::sort(ends_.begin(), ends_.end());
}

std::int64_t GpuLaunches::Note(const EventPlace& host, TimeNs device_time, std::int64_t stream) {
  const auto next = static_cast<std::int64_t>(launches_.size());
  const auto [found, is_new] = launches_.try_emplace(host, Launch{next, device_time, stream});
  Launch& launch = found->second;
  if (std::pair{device_time, stream} < std::pair{launch.device_time, launch.stream}) {
    launch.device_time = device_time;
    launch.stream = stream;
  }
  return launch.number;
}

std::optional<EventPlace> GpuLaunches::Find(const CorrelatedEvent& work) const {
  const auto arrow =
      std::lower_bound(ends_.begin(), ends_.end(), ArrowEnd{work.place, {kMin, kMin, kMin}, kMin});
  const bool has_arrow = arrow != ends_.end() && arrow->place == work.place;
  if (has_arrow && arrows_decide_) return arrow->start;
  for (auto at = arrow; at != ends_.end() && at->place == work.place; ++at) {
    if (at->id == work.correlation) return at->start;
  }
  if (work.correlation >= 0) {
    if (const auto call = LastBefore(calls_, work.correlation, work.place.start)) return call;
  }
  if (has_arrow) return arrow->start;
  return work.correlation < 0 ? std::nullopt
                              : LastBefore(starts_, work.correlation, work.place.start);
}

void GpuLaunches::Link(const std::vector<CorrelatedEvent>& work, std::vector<std::int64_t>& links) {
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto host = Find(work[i]);
    if (host) links[i] = Note(*host, work[i].place.start, work[i].place.tid);
  }
}

void GpuLaunches::Append(TrackNumbers& tracks, RankTrace& trace,
                         const std::vector<std::vector<std::int64_t>*>& linked) const {
  std::vector<std::pair<EventPlace, Launch>> in_order(launches_.begin(), launches_.end());
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto& a, const auto& b) { return a.first.start < b.first.start; });
  std::vector<std::int64_t> link_of(in_order.size());
  for (const auto& [host, launch] : in_order) {
    const auto link = static_cast<std::int64_t>(trace.launches.Size());
    link_of[static_cast<std::size_t>(launch.number)] = link;
    trace.launches.Append({.link = link,
                           .host_time = host.start,
                           .host_track = tracks.Of(host.pid, host.tid),
                           .device_time = launch.device_time,
                           .stream = launch.stream});
  }
  for (std::vector<std::int64_t>* links : linked) {
    for (std::int64_t& link : *links) {
      if (link >= 0) link = link_of[static_cast<std::size_t>(link)];
    }
  }
}

}  // namespace mpa::readers
