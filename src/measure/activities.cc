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

void Include(const Interval& more, Interval& span) {
  span.begin = std::min(span.begin, more.begin);
  span.end = std::max(span.end, more.end);
}

// The profiler's overlap analysis leaves out the same. Text captures name the profiler's switches
// so, databases give them that type. What has a name but no type there is the time
// of a mark on a stream.
bool BoundsSpan(const RankTrace& trace, std::size_t task) {
  const DeviceTasks& tasks = trace.device_tasks;
  const std::string_view type = trace.strings.View(tasks.type[task]);
  const std::string_view name = trace.strings.View(tasks.name[task]);
  const bool is_mark = type.empty() && !name.empty();
  return !is_mark && BoundsDeviceSpan(type) &&
         !IsOneOf(name, {"PROFILING_ENABLE", "PROFILING_DISABLE"});
}

bool IsLccl(const RankTrace& trace, std::size_t communication) {
  return IsLcclKernel(trace.strings.View(trace.communications.name[communication]));
}

Intervals KernelTime(const RankTrace& trace) {
  const Kernels& kernels = trace.kernels;
  std::vector<Interval> rows;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    if (IsLcclKernel(trace.strings.View(kernels.name[i]))) continue;
    rows.push_back({kernels.start[i], kernels.start[i] + kernels.dur[i]});
  }
  return Union(std::move(rows));
}

Intervals CollectiveTime(const RankTrace& trace) {
  const Communications& comms = trace.communications;
  std::vector<Interval> rows;
  for (std::size_t i = 0; i < comms.Size(); ++i) {
    if (!IsLccl(trace, i)) rows.push_back({comms.start[i], comms.start[i] + comms.dur[i]});
  }
  return Union(std::move(rows));
}

void AddLcclKernels(const RankTrace& trace, Activities& activities) {
  const Communications& comms = trace.communications;
  for (const std::size_t row : comms.RowsByStart()) {
    if (!IsLccl(trace, row)) continue;
    activities.lccl.push_back({comms.start[row], comms.start[row] + comms.dur[row]});
  }
}

// All of the analysis, without LCCL kernels. The span of one without rows is empty.
Activities FromOverlapAnalysis(const RankTrace& trace) {
  const Overlaps& overlaps = trace.overlaps;
  Activities activities;
  activities.span = kNoSpan;
  std::vector<Interval> computing, communication, exposed;
  for (std::size_t i = 0; i < overlaps.Size(); ++i) {
    const Interval interval{overlaps.start[i], overlaps.start[i] + overlaps.dur[i]};
    Include(interval, activities.span);
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
  return activities;
}

}  // namespace

Interval DeviceSpan(const RankTrace& trace) {
  Interval span = kNoSpan;
  const auto include_all = [&](const auto& table) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      Include({table.start[i], table.start[i] + table.dur[i]}, span);
    }
  };
  include_all(trace.kernels);
  include_all(trace.communications);
  const DeviceTasks& tasks = trace.device_tasks;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (!BoundsSpan(trace, i)) continue;
    Include({tasks.start[i], tasks.start[i] + tasks.dur[i]}, span);
  }
  // What other streams of a GPU did beside work of earlier steps belongs to these.
  const TimeNs opens = trace.is_one_step ? trace.step_begin : trace.earlier_work_end;
  if (trace.device == DeviceKind::kGpu && opens != 0 && span.begin < opens)
    span.begin = std::min(opens, span.end);
  return span;
}

Activities ActivitiesOf(const RankTrace& trace) {
  Activities activities;
  activities.span = kNoSpan;
  // What is left of a capture may be the analysis alone, without kernels or without collectives.
  // That of one step is cut at its bounds, where work of another step may reach over.
  const bool has_kernels = !trace.kernels.Empty();
  if (!has_kernels || !trace.is_one_step) activities = FromOverlapAnalysis(trace);
  if (has_kernels) {
    activities.span = kNoSpan;
    activities.computing = KernelTime(trace);
  }
  if (!trace.communications.Empty()) activities.communication = CollectiveTime(trace);
  Include(DeviceSpan(trace), activities.span);
  if (trace.device == DeviceKind::kGpu) {  // see DeviceSpan()
    const Intervals within = {activities.span};
    activities.computing = Intersection(activities.computing, within);
    activities.communication = Intersection(activities.communication, within);
  }
  activities.exposed = Difference(activities.communication, activities.computing);
  for (const Intervals* busy : {&activities.computing, &activities.communication}) {
    if (!busy->empty()) Include({busy->front().begin, busy->back().end}, activities.span);
  }
  AddLcclKernels(trace, activities);
  return activities;
}

Activities AnalysedActivitiesOf(const RankTrace& trace) {
  if (trace.overlaps.Empty() || trace.is_one_step) return ActivitiesOf(trace);
  Activities activities = FromOverlapAnalysis(trace);
  AddLcclKernels(trace, activities);
  return activities;
}

Intervals Activities::Free() const {
  if (Length() == 0) return {};
  return Difference({span}, Union(Union(computing, exposed), Union(lccl)));
}

}  // namespace mpa
