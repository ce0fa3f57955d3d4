// SPDX-License-Identifier: Apache-2.0
// What a device did and when it was free: unions and differences of the times of kernels and
// collectives.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "stages.h"

namespace mpa::raw {
namespace {

struct Interval {
  TimeNs start = 0, end = 0;
};
using Intervals = std::vector<Interval>;

/// The times of one device, and the span in which it counts as free or busy.
struct DeviceWork {
  Intervals computing, communication;
  TimeNs begin = std::numeric_limits<TimeNs>::max();
  TimeNs end = std::numeric_limits<TimeNs>::min();

  void Span(TimeNs from, TimeNs to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  }
};

/// Sorted, disjoint and not touching.
Intervals Union(Intervals intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.start < b.start; });
  Intervals merged;
  for (const Interval& interval : intervals) {
    if (merged.empty() || merged.back().end < interval.start) {
      merged.push_back(interval);
    } else {
      merged.back().end = std::max(merged.back().end, interval.end);
    }
  }
  return merged;
}

/// What of `from` lies outside `without`; both as Union() leaves them.
Intervals Difference(const Intervals& from, const Intervals& without) {
  Intervals rest;
  std::size_t next = 0;
  for (const Interval& interval : from) {
    TimeNs start = interval.start;
    while (next < without.size() && without[next].end <= start) ++next;
    for (std::size_t i = next; i < without.size() && without[i].start < interval.end; ++i) {
      if (without[i].start > start) rest.push_back({start, without[i].start});
      start = without[i].end;
    }
    if (start < interval.end) rest.push_back({start, interval.end});
  }
  return rest;
}

/// Tasks of these types bound the span only by the kernels and collectives they belong to; the two
/// switches of the profiler are no work.
bool BoundsSpan(std::string_view host_type) {
  constexpr std::array<std::string_view, 7> kLeftOut = {
      "KERNEL_AICORE",  "KERNEL_AIVEC",     "FFTS_PLUS",        "KERNEL_MIX_AIC",
      "KERNEL_MIX_AIV", "PROFILING_ENABLE", "PROFILING_DISABLE"};
  return std::find(kLeftOut.begin(), kLeftOut.end(), host_type) == kLeftOut.end();
}

/// Kernels that move data for a collective are part of it.
bool Communicates(std::string_view name) {
  return name.ends_with("AicpuKernel") || name.ends_with("AivKernel");
}

/// By device. The map has as many elements as the capture has devices.
std::map<std::int64_t, DeviceWork> CollectWork(const Session& session) {
  std::map<std::int64_t, DeviceWork> devices;
  const Tasks& tasks = session.tasks;
  std::vector<std::uint8_t> bounds(session.strings.Size());
  for (std::uint32_t id = 0; id < bounds.size(); ++id) {
    bounds[id] = BoundsSpan(session.strings.View(StringId{id}));
  }
  DeviceWork* work = nullptr;
  std::int64_t device = -1;
  const auto select = [&](std::int64_t wanted) {
    if (work == nullptr || device != wanted) work = &devices[device = wanted];
  };
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    select(tasks.device[i]);
    if (bounds[Index(tasks.host_type[i])] != 0) work->Span(tasks.start[i], tasks.end[i]);
  }
  const Kernels& kernels = session.kernels;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    if (Communicates(session.strings.View(kernels.name[i]))) continue;
    if (SchedulesCollectives(session, i)) continue;
    const auto task = static_cast<std::size_t>(kernels.task[i]);
    select(tasks.device[task]);
    work->computing.push_back({tasks.start[task], tasks.end[task]});
  }
  const Collectives& collectives = session.collectives;
  for (std::size_t i = 0; i < collectives.Size(); ++i) {
    select(collectives.device[i]);
    work->communication.push_back({collectives.start[i], collectives.end[i]});
  }
  return devices;
}

void AppendAll(const Intervals& intervals, DeviceActivity activity, std::int64_t device,
               Activities& activities) {
  for (const Interval& interval : intervals) {
    if (interval.end <= interval.start) continue;
    activities.Append(
        {.start = interval.start, .end = interval.end, .activity = activity, .device = device});
  }
}

}  // namespace

void FindActivities(Session& session) {
  for (auto& [device, work] : CollectWork(session)) {
    const Intervals computing = Union(std::move(work.computing));
    const Intervals communication = Union(std::move(work.communication));
    Intervals busy = computing;
    busy.insert(busy.end(), communication.begin(), communication.end());
    busy = Union(std::move(busy));
    if (!busy.empty()) work.Span(busy.front().start, busy.back().end);

    Activities& activities = session.activities;
    AppendAll(computing, DeviceActivity::kComputing, device, activities);
    AppendAll(communication, DeviceActivity::kCommunication, device, activities);
    AppendAll(Difference(communication, computing), DeviceActivity::kExposedCommunication, device,
              activities);
    AppendAll(Difference({{work.begin, work.end}}, busy), DeviceActivity::kFree, device,
              activities);
  }
}

}  // namespace mpa::raw
