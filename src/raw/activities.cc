// SPDX-License-Identifier: Apache-2.0
// What a device did and when it was free: unions and differences of the times of kernels and
// collectives.
#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "mpa/measure/intervals.h"
#include "mpa/model/device_tasks.h"
#include "stages.h"

namespace mpa::raw {
namespace {

/// The times of one device, and the span that is divided into busy and free time.
struct DeviceTimes {
  std::vector<Interval> computing, communication;
  TimeNs begin = std::numeric_limits<TimeNs>::max();
  TimeNs end = std::numeric_limits<TimeNs>::min();

  void Span(TimeNs from, TimeNs to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  }
};

/// Kernels that move data for a collective are part of it.
bool Communicates(std::string_view name) {
  return name.ends_with("AicpuKernel") || name.ends_with("AivKernel");
}

/// By device. The map has as many elements as the capture has devices.
std::map<std::int64_t, DeviceTimes> CollectWork(const Session& session) {
  std::map<std::int64_t, DeviceTimes> devices;
  const Tasks& tasks = session.tasks;
  std::vector<std::uint8_t> bounds(session.strings.Size());
  for (std::uint32_t id = 0; id < bounds.size(); ++id) {
    bounds[id] = BoundsDeviceSpan(session.strings.View(StringId{id}));
  }
  DeviceTimes* work = nullptr;
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

void AppendAll(const Intervals& intervals, Activity activity, std::int64_t device,
               Overlaps& overlaps) {
  for (const Interval& interval : intervals) {
    if (interval.end <= interval.begin) continue;
    overlaps.Append({.start = interval.begin,
                     .dur = interval.end - interval.begin,
                     .activity = activity,
                     .device = device});
  }
}

}  // namespace

void FindActivities(Session& session) {
  for (auto& [device, work] : CollectWork(session)) {
    const Intervals computing = Union(std::move(work.computing));
    const Intervals communication = Union(std::move(work.communication));
    const Intervals busy = Union(computing, communication);
    if (!busy.empty()) work.Span(busy.front().begin, busy.back().end);

    Overlaps& overlaps = session.overlaps;
    AppendAll(computing, Activity::kComputing, device, overlaps);
    AppendAll(communication, Activity::kCommunication, device, overlaps);
    AppendAll(Difference(communication, computing), Activity::kExposedCommunication, device,
              overlaps);
    AppendAll(Difference({{work.begin, work.end}}, busy), Activity::kFree, device, overlaps);
  }
}

}  // namespace mpa::raw
