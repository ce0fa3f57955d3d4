// SPDX-License-Identifier: Apache-2.0
// The device side of a raw capture.
#include "raw_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "cache_use.h"
#include "comm_task_facts.h"
#include "kernel_load_columns.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/model/device_tasks.h"
#include "mpa/raw/labels.h"
#include "mpa/raw/step_ranges.h"
#include "trace_runtime.h"

namespace mpa::readers {
namespace {

using raw::Session;

// The launch of each task and each collective: its row in trace.launches, or -1.
struct LaunchOf {
  std::vector<std::int64_t> task, collective;
};

LaunchOf FillLaunches(const Session& session, TrackNumbers& tracks, RankTrace& trace) {
  const raw::Tasks& tasks = session.tasks;
  LaunchOf launch{std::vector<std::int64_t>(tasks.Size(), -1),
                  std::vector<std::int64_t>(session.collectives.Size(), -1)};
  const auto add = [&](std::int64_t& link, TimeNs host_time, std::int32_t host_track,
                       TimeNs device_time, std::int64_t stream) {
    link = static_cast<std::int64_t>(trace.launches.Size());
    trace.launches.Append({.link = link,
                           .host_time = host_time,
                           .host_track = host_track,
                           .device_time = device_time,
                           .stream = stream});
  };
  for (std::size_t i = 0; i < session.links.Size(); ++i) {
    const auto op = static_cast<std::size_t>(session.links.op[i]);
    const TimeNs start = session.ops.start[op];
    const std::int32_t track = session.ops.track[op];
    if (session.links.task[i] >= 0) {
      const auto row = static_cast<std::size_t>(session.links.task[i]);
      add(launch.task[row], start, track, tasks.start[row], tasks.stream[row]);
    } else {
      const auto row = static_cast<std::size_t>(session.links.collective[i]);
      add(launch.collective[row], start, track, session.collectives.start[row], -1);
    }
  }
  // An operator that copies directly, without the task queue, has no link to the copy.
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (launch.task[i] >= 0 || tasks.kind[i] == raw::TaskKind::kCollectivePart) continue;
    if (tasks.call[i] < 0 || !raw::IsCopy(session, i)) continue;
    const auto call = static_cast<std::size_t>(tasks.call[i]);
    add(launch.task[i], session.calls.start[call],
        tracks.Of(session.info.process, session.calls.thread[call]), tasks.start[i],
        tasks.stream[i]);
  }
  return launch;
}

// Tasks as the timeline shows them.
void ShowTasks(const LaunchOf& launch, Session& session) {
  raw::Tasks& tasks = session.tasks;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    tasks.name[i] = raw::TaskName(session, i);
    tasks.type[i] = raw::TimelineTaskType(session, i);
    tasks.link[i] = launch.task[i];
    tasks.connection[i] = tasks.call[i];
    if (tasks.model[i] == raw::kNoModel) tasks.model.Stored()[i] = -1;
    tasks.direction.Stored()[i] = CopyDirectionOf(tasks.copy_direction[i]);
  }
  tasks.number = tasks.task_id;
}

// Hands over the tasks but the groups around others.
void TakeTasks(Session& session, RankTrace& trace) {
  raw::Tasks& tasks = session.tasks;
  tasks.Filter([&](std::size_t i) { return tasks.group[i] == 0; });
  trace.device_tasks.Take(tasks);
  for (std::size_t i = 0; i < trace.device_tasks.Size(); ++i) {
    if (!IsLcclKernel(session.strings.View(trace.device_tasks.name[i]))) continue;
    const DeviceTasks::Row task = trace.device_tasks.At(i);
    trace.communications.Append({.start = task.start,
                                 .dur = task.dur,
                                 .name = task.name,
                                 .op_type = task.name,
                                 .link = task.link,
                                 .dur_rest = task.dur_rest});
  }
}

// The work of the devices, and the collectives; see DeviceRuns.
void FillRuns(const Session& session, RankTrace& trace) {
  const raw::Tasks& tasks = session.tasks;
  const auto is_no_run = [&](StringId text) { return IsNoRun(session.strings.View(text)); };
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (tasks.group[i] || is_no_run(tasks.name[i]) || is_no_run(tasks.type[i])) continue;
    trace.device_runs.Append({.start = tasks.start[i],
                              .dur = tasks.dur[i],
                              .name = tasks.name[i],
                              .connection = tasks.call[i],
                              .model = tasks.model[i],
                              .pid = session.info.process,
                              .device = tasks.device[i],
                              .stream = tasks.stream[i]});
  }
  const raw::Collectives& collectives = session.collectives;
  for (std::size_t i = 0; i < collectives.Size(); ++i) {
    trace.device_runs.Append({.start = collectives.start[i],
                              .dur = std::llround(collectives.dur[i]),
                              .name = collectives.name[i],
                              .is_collective = true,
                              .connection = collectives.call[i],
                              .pid = session.info.process,
                              .device = collectives.device[i]});
  }
}

// The counters that analyses use. `rows`: of each kernel of the trace its row in them; -1: none.
void FillCounters(const raw::Counters& counters, const std::vector<std::int32_t>& rows,
                  Kernels& kernels, KernelLoads* kernel_loads) {
  // 11 days. Broken records may contain any number, or none.
  constexpr double kMaxLength = 1e15;
  const std::size_t width = counters.names.size();
  for (std::size_t metric = 0; metric < width; ++metric) {
    const auto [times, loads] = CounterColumnsOf(counters.names[metric], kernels, kernel_loads);
    if (times == nullptr && loads == nullptr) continue;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] < 0) continue;
      const double value = counters.values[static_cast<std::size_t>(rows[i]) * width + metric];
      if (loads != nullptr) {
        (*loads)[i] = Thousandths(value);
      } else if (std::fabs(value) <= kMaxLength) {
        (*times)[i] = std::max<TimeNs>((*times)[i], std::llround(value));
      }
    }
  }
}

// The other counters; `rows` as above.
void FillOtherCounters(const std::vector<std::int32_t>& rows, Session& session, RankTrace& trace) {
  const raw::Counters& counters = session.counters;
  const std::size_t width = counters.names.size();
  for (std::size_t metric = 0; metric < width; ++metric) {
    if (!raw::IsListedCounter(counters.names[metric]) || !IsOtherCounter(counters.names[metric]))
      continue;
    const StringId name = session.strings.Intern(counters.names[metric]);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] < 0) continue;
      const double value = counters.values[static_cast<std::size_t>(rows[i]) * width + metric];
      if (std::isfinite(value))
        SetCounter(name, value, trace.counter_names, trace.kernel_loads.counters[i]);
    }
  }
}

std::vector<CacheUse> CacheUsesOf(const Session& session, std::int64_t device) {
  const raw::L2CacheUse& recorded = session.l2_cache;
  std::vector<CacheUse> uses;
  for (std::size_t i = 0; i < recorded.Size(); ++i) {
    if (recorded.device[i] != device) continue;
    // Other chips count the hits of the whole device.
    const double hits = raw::IsHwts(session) ? recorded.hit_rate[i] : NAN;
    uses.push_back(
        {recorded.stream[i], recorded.task[i], recorded.name[i], hits, recorded.victim_rate[i]});
  }
  return uses;
}

void FillKernels(const LaunchOf& launch, bool with_loads, Session& session, RankTrace& trace) {
  const raw::Kernels& kernels = session.kernels;
  std::vector<std::int32_t> counters;
  const raw::StepRanges steps = raw::StepsOnDevice(session.steps);
  const auto view = [&](StringId text) { return session.strings.View(text); };
  const auto recorded = [&](StringId text) { return view(text) == "N/A" ? StringId{} : text; };
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    if (!raw::IsListedKernel(session, i)) continue;
    if (IsHcclKernel(view(kernels.core[i]), view(kernels.name[i]))) continue;
    const auto task = static_cast<std::size_t>(kernels.task[i]);
    counters.push_back(kernels.counters[i]);
    if (with_loads) {
      trace.kernel_loads.Append({.output_types = recorded(kernels.output_types[i]),
                                 .blocks = BlockCount(kernels.blocks[i]),
                                 .mix_blocks = BlockCount(kernels.mix_blocks[i]),
                                 .task = session.tasks.task_id[task],
                                 .attributes = recorded(kernels.attributes[i])});
    }
    trace.kernels.Append({.start = session.tasks.start[task],
                          .dur = session.tasks.dur[task],
                          .name = kernels.name[i],
                          .op_type = recorded(kernels.op_type[i]),
                          .core = recorded(kernels.core[i]),
                          .shapes = kernels.input_shapes[i],
                          .input_types = recorded(kernels.input_types[i]),
                          .input_formats = recorded(kernels.input_formats[i]),
                          .output_shapes = recorded(kernels.output_shapes[i]),
                          .output_formats = recorded(kernels.output_formats[i]),
                          .hf32 = recorded(kernels.hf32[i]),
                          .stream = session.tasks.stream[task],
                          .link = launch.task[task],
                          .step = steps.IdAt(session.tasks.start[task])});
  }
  FillCounters(session.counters, counters, trace.kernels,
               with_loads ? &trace.kernel_loads : nullptr);
  if (!with_loads) return;
  FillOtherCounters(counters, session, trace);
  AddCacheUses(CacheUsesOf(session, trace.device_id), session.strings, trace);
}

// Groups in order of their first operation, as the timeline shows them.
std::vector<std::int32_t> FillGroups(Session& session, RankTrace& trace) {
  std::vector<std::int32_t> group_of_text(session.strings.Size(), -1);
  std::vector<std::int32_t> group_of_collective;
  for (const StringId name : session.collectives.group_name) {
    std::int32_t& group = group_of_text[Index(name)];
    if (group < 0) {
      group = static_cast<std::int32_t>(trace.comm_groups.Size());
      const std::string shown = fmt::format("Group {} Communication", session.strings.View(name));
      trace.comm_groups.Append({.name = session.strings.Intern(shown)});
    }
    group_of_collective.push_back(group);
  }
  return group_of_collective;
}

void FillCollectives(Session& session, const LaunchOf& launch, RankTrace& trace) {
  const raw::Collectives& collectives = session.collectives;
  const std::vector<std::int32_t> group = FillGroups(session, trace);
  const auto kind = [&](std::span<const raw::NamedNumber> names, std::int64_t number) {
    return session.strings.Intern(KindOrNone(raw::NameOf(names, number)));
  };
  for (std::size_t i = 0; i < collectives.Size(); ++i) {
    trace.communications.Append(
        {.start = collectives.start[i],
         .dur = collectives.end[i] - collectives.start[i],
         .name = collectives.name[i],
         .op_type = collectives.name[i],
         .group = group[i],
         .link = launch.collective[i],
         .data_type = kind(raw::CommunicationDataTypes(), collectives.data_type[i]),
         .count = collectives.count[i],
         .connection = collectives.call[i]});
  }
  const raw::CollectiveParts& parts = session.parts;
  for (std::size_t i = 0; i < parts.Size(); ++i) {
    const auto task = static_cast<std::size_t>(parts.task[i]);
    const std::int32_t collective = parts.collective[i];
    trace.comm_tasks.Append(
        {.start = session.tasks.start[task],
         .dur = session.tasks.dur[task],
         .name = parts.name[i],
         .group = collective < 0 ? -1 : group[static_cast<std::size_t>(collective)],
         .plane = parts.plane[i],
         .dur_rest = session.tasks.dur_rest[task],
         .own_rank = RankInGroup(parts.local_rank[i]),
         .peer = RankInGroup(parts.remote_rank[i]),
         .bytes = SizeOrNone(parts.bytes[i]),
         .transport = kind(raw::TransportTypes(), parts.transport[i]),
         .link_type = kind(raw::LinkTypes(), parts.link[i]),
         .rdma_type = kind(raw::RdmaTypes(), parts.rdma[i]),
         .notify = NotifyOrNone(parts.notify[i]),
         .stream = session.tasks.stream[task]});
  }
}

}  // namespace

void FillDeviceTables(Session& session, Tables wanted, TrackNumbers& tracks, RankTrace& trace) {
  if (!session.info.devices.empty()) trace.device_id = session.info.devices.front().id;
  const LaunchOf launch = FillLaunches(session, tracks, trace);
  for (const TimeNs time : session.unanswered_launches)
    trace.unanswered_launches.Append({.time = time});
  if (Intersects(wanted, Tables::kCommunications | Tables::kCommTasks)) {
    FillCollectives(session, launch, trace);
  }
  ShowTasks(launch, session);
  if (Intersects(wanted, Tables::kDeviceRuns)) FillRuns(session, trace);
  if (Intersects(wanted, Tables::kKernels)) {
    FillKernels(launch, Intersects(wanted, Tables::kKernelLoads), session, trace);
  }
  if (Intersects(wanted, Tables::kDeviceTasks)) TakeTasks(session, trace);
}

}  // namespace mpa::readers
