// SPDX-License-Identifier: Apache-2.0
// Which call on the host launched which work of a GPU.
#include "gpu_launches.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

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

}  // namespace mpa::readers
