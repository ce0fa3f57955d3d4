// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/activities.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/model/device_tasks.h"

namespace mpa {
namespace {

constexpr Interval kNoSpan = {std::numeric_limits<TimeNs>::max(),
                              std::numeric_limits<TimeNs>::min()};

void Include(TimeNs begin, TimeNs end, Interval& span) {
  span.begin = std::min(span.begin, begin);
  span.end = std::max(span.end, end);
}

// The profiler's overlap analysis leaves out the same. Text captures name the profiler's switches
// so, databases give them that type.
bool BoundsSpan(const RankTrace& trace, std::size_t task) {
  const DeviceTasks& tasks = trace.device_tasks;
  return BoundsDeviceSpan(trace.strings.View(tasks.type[task])) &&
         !IsOneOf(trace.strings.View(tasks.name[task]), {"PROFILING_ENABLE", "PROFILING_DISABLE"});
}

Activities FromOverlapAnalysis(const RankTrace& trace) {
  const Overlaps& overlaps = trace.overlaps;
  Activities activities;
  activities.span = kNoSpan;
  std::vector<Interval> computing, communication, exposed;
  for (std::size_t i = 0; i < overlaps.Size(); ++i) {
    const Interval interval{overlaps.start[i], overlaps.start[i] + overlaps.dur[i]};
    Include(interval.begin, interval.end, activities.span);
    switch (overlaps.activity[i]) {
      case Activity::kComputing:
        computing.push_back(interval);
        break;
      case Activity::kCommunication:
        communication.push_back(interval);
        break;
      case Activity::kExposedCommunication:
        exposed.push_back(interval);
        break;
      case Activity::kFree:
        break;
    }
  }
  activities.computing = Union(std::move(computing));
  activities.exposed = Difference(Union(std::move(exposed)), activities.computing);
  activities.communication = Union(Union(std::move(communication)), activities.exposed);
  if (trace.is_one_step) {  // the free time around the work is not in the analysis of a step
    const Interval all = DeviceSpan(trace);
    Include(all.begin, all.end, activities.span);
  }
  return activities;
}

bool IsLccl(const RankTrace& trace, std::size_t communication) {
  return IsLcclKernel(trace.strings.View(trace.communications.name[communication]));
}

Activities FromWork(const RankTrace& trace) {
  const Kernels& kernels = trace.kernels;
  std::vector<Interval> computing;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    if (IsLcclKernel(trace.strings.View(kernels.name[i]))) continue;
    computing.push_back({kernels.start[i], kernels.start[i] + kernels.dur[i]});
  }
  const Communications& comms = trace.communications;
  std::vector<Interval> communication;
  for (std::size_t i = 0; i < comms.Size(); ++i) {
    if (IsLccl(trace, i)) continue;
    communication.push_back({comms.start[i], comms.start[i] + comms.dur[i]});
  }
  Activities activities;
  activities.span = DeviceSpan(trace);
  const Intervals within = {activities.span};
  activities.computing = Intersection(Union(std::move(computing)), within);
  activities.communication = Intersection(Union(std::move(communication)), within);
  activities.exposed = Difference(activities.communication, activities.computing);
  return activities;
}

}  // namespace

Interval DeviceSpan(const RankTrace& trace) {
  Interval span = kNoSpan;
  const auto include_all = [&](const auto& table) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      Include(table.start[i], table.start[i] + table.dur[i], span);
    }
  };
  include_all(trace.kernels);
  include_all(trace.communications);
  const DeviceTasks& tasks = trace.device_tasks;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (!BoundsSpan(trace, i)) continue;
    Include(tasks.start[i], tasks.start[i] + tasks.dur[i], span);
  }
  // What other streams of a GPU did beside work of earlier steps belongs to these.
  const TimeNs opens = trace.is_one_step ? trace.step_begin : trace.earlier_work_end;
  if (trace.device == DeviceKind::kGpu && opens != 0 && span.begin < opens)
    span.begin = std::min(opens, span.end);
  return span;
}

bool HasOverlapAnalysis(const RankTrace& trace) {
  return !trace.overlaps.Empty() && (!trace.is_one_step || trace.kernels.Empty());
}

Activities ActivitiesOf(const RankTrace& trace) {
  Activities activities = HasOverlapAnalysis(trace) ? FromOverlapAnalysis(trace) : FromWork(trace);
  const Communications& comms = trace.communications;
  for (const std::size_t row : comms.RowsByStart()) {
    if (!IsLccl(trace, row)) continue;
    activities.lccl.push_back({comms.start[row], comms.start[row] + comms.dur[row]});
  }
  return activities;
}

Intervals Activities::Free() const {
  if (Length() == 0) return {};
  return Difference({span}, Union(Union(computing, exposed), Union(lccl)));
}

}  // namespace mpa
