// SPDX-License-Identifier: Apache-2.0
#include "trace_join.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "mpa/base/parallel.h"
#include "mpa/base/text.h"
#include "mpa/io/numbers.h"
#include "mpa/model/collective_tasks.h"
#include "trace_events.h"
#include "trace_mstx.h"

namespace mpa::readers {
namespace {

// The processes that hold device events, and the threads of the communication process.
struct Processes {
  std::optional<std::int64_t> hardware, communication, overlap;
  std::map<std::int64_t, std::string> comm_thread_names;      // by tid
  std::map<std::int64_t, std::int64_t> comm_thread_of_index;  // sort index -> tid
  std::map<std::int64_t, RuntimeProcess> runtime;             // by pid
};

Processes FindProcesses(const std::vector<TraceFragment>& fragments) {
  Processes found;
  const auto each = [&](std::string_view kind, auto on_metadata) {
    for (const TraceFragment& fragment : fragments) {
      for (const Metadata& metadata : fragment.metadata) {
        if (fragment.strings.View(metadata.kind) == kind) on_metadata(metadata);
      }
    }
  };
  each("process_name", [&](const Metadata& metadata) {
    const std::string name = MemberText(metadata.args, "name");
    if (name == "Communication" || name == "HCCL") found.communication = metadata.pid;
    if (name == "Ascend Hardware") found.hardware = metadata.pid;
    if (name == "Overlap Analysis") found.overlap = metadata.pid;
    const RuntimeProcess runtime = RuntimeProcessOf(name);
    if (runtime != RuntimeProcess::kNone) found.runtime[metadata.pid] = runtime;
  });
  each("thread_name", [&](const Metadata& metadata) {
    if (metadata.pid != found.communication) return;
    found.comm_thread_names[metadata.tid] = MemberText(metadata.args, "name");
  });
  each("thread_sort_index", [&](const Metadata& metadata) {
    if (metadata.pid != found.communication) return;
    found.comm_thread_of_index[IdFrom(MemberText(metadata.args, "sort_index"))] = metadata.tid;
  });
  return found;
}

// The groups of the communication process. Its threads come in display order: the thread of a
// group's operations ("... Communication"), then the planes of the group.
class CommThreads {
 public:
  CommThreads(const Processes& processes, RankTrace& trace) : trace_(trace) {
    for (const auto& [index, tid] : processes.comm_thread_of_index) {
      const auto name = processes.comm_thread_names.find(tid);
      if (name == processes.comm_thread_names.end() || name->second.empty()) continue;
      const bool is_group = name->second.find("Communication") != std::string::npos;
      if (is_group) current_ = AddGroup(name->second);
      groups_[tid] = {is_group, is_group || current_ >= 0 ? current_ : UnknownGroup()};
    }
  }

  struct Place {
    bool is_group = false;
    std::int32_t group = -1;
  };
  Place Of(std::int64_t tid) {
    const auto found = groups_.find(tid);
    return found != groups_.end() ? found->second : Place{false, UnknownGroup()};
  }

 private:
  std::int32_t AddGroup(std::string_view name) {
    const auto number = static_cast<std::int32_t>(trace_.comm_groups.Size());
    trace_.comm_groups.Append({.name = trace_.strings.Intern(name), .position = number});
    return number;
  }

  // Planes before any group, and threads without a name.
  std::int32_t UnknownGroup() {
    if (unknown_ < 0) unknown_ = AddGroup(kUnknownGroup);
    return unknown_;
  }

  RankTrace& trace_;
  std::unordered_map<std::int64_t, Place> groups_;
  std::int32_t current_ = -1;
  std::int32_t unknown_ = -1;
};

// Task type and stream are needed of hardware events only, so their args are parsed only now.
void ReadHardwareArgs(TraceFragment& fragment, std::int64_t hardware_pid) {
  for (DeviceEvent& event : fragment.device) {
    if (event.pid != hardware_pid) continue;
    event.stream = event.tid;
    ForEachMember(event.args, [&](std::string_view key, std::string_view value) {
      if (key == "Task Type") {
        event.type = fragment.strings.Intern(value);
      } else if (key == "Stream Id" || key == "Physic Stream Id") {
        event.stream = io::ParseInt(value).value_or(event.tid);
      } else if (key == "Task Id") {
        event.task_id = io::ParseInt(value).value_or(-1);
      }
    });
  }
}

void ReadRuntimeEvents(TraceFragment& fragment,
                       const std::map<std::int64_t, RuntimeProcess>& of_pid) {
  for (const DeviceEvent& event : fragment.device) {
    const auto process = of_pid.find(event.pid);
    if (process == of_pid.end()) continue;
    AddRuntimeEvent(process->second, {event.pid, event.tid, event.start}, event.dur, event.name,
                    event.args, fragment.strings, fragment.runtime);
  }
}

std::optional<Activity> ActivityOf(std::string_view name) {
  if (name == "Computing") return Activity::kComputing;
  if (name == "Communication(Not Overlapped)") return Activity::kExposedCommunication;
  if (name == "Communication") return Activity::kCommunication;
  if (name == "Free") return Activity::kFree;
  return std::nullopt;
}

// Appends the fragments to the rank, in file order.
class Joiner {
 public:
  Joiner(const Processes& processes, Tables wanted, RankTrace& trace)
      : processes_(processes),
        with_mstx_(Overlap(wanted, Tables::kMstx)),
        with_runtime_(Overlap(wanted, kRuntimeTables)),
        trace_(trace),
        runtime_(trace),
        tracks_(trace.tracks),
        threads_(processes, trace) {}

  void Add(const TraceFragment& fragment) {
    StringMapping texts(fragment.strings, trace_.strings);
    AppendHostOps(fragment.host, texts, tracks_, trace_);
    AppendPythonCalls(fragment.python, texts, tracks_, trace_);
    for (const DeviceEvent& event : fragment.device) {
      if (event.pid == processes_.hardware) {
        if (IsLcclKernel(fragment.strings.View(event.name))) {
          AppendOperation(event, /*group=*/-1, texts);
        }
        trace_.device_tasks.Append({.start = event.start,
                                    .dur = event.dur,
                                    .name = texts[event.name],
                                    .type = texts[event.type],
                                    .task_id = event.task_id,
                                    .stream = event.stream,
                                    .dur_rest = event.dur_rest});
        task_places_.push_back({event.pid, event.tid, event.start});
      } else if (event.pid == processes_.communication) {
        AddCommunication(event, texts);
      } else if (event.pid == processes_.overlap) {
        if (const auto activity = ActivityOf(fragment.strings.View(event.name))) {
          trace_.overlaps.Append({.start = event.start, .dur = event.dur, .activity = *activity});
        }
      } else if (with_mstx_) {
        mstx_.Add(event.args, {event.pid, event.tid, event.start}, event.dur, texts[event.name],
                  trace_);
      }
    }
    for (std::size_t i = 0; i < fragment.core_clocks.Size(); ++i) {
      trace_.core_clocks.Append(
          {.start = fragment.core_clocks.start[i], .mhz = fragment.core_clocks.mhz[i]});
    }
    runtime_.Add(fragment.runtime, fragment.runtime_flows, texts);
    for (std::size_t i = 0; i < fragment.garbage_collections.Size(); ++i) {
      trace_.garbage_collections.Append({.start = fragment.garbage_collections.start[i],
                                         .dur = fragment.garbage_collections.dur[i]});
    }
    if (fragment.backward_tid != -1) trace_.backward_tid = fragment.backward_tid;
    trace_.issues.Merge(fragment.issues);
    Move(fragment.flows, flows_);
    Move(fragment.backward_flows, backward_flows_);
    for (QueueEvent event : fragment.queue) {
      event.name = texts[event.name];
      queue_.push_back(event);
    }
  }

  void Finish() {
    LaunchFlows launches;
    launches.Append(flows_, tracks_, trace_);
    launches.Link(task_places_, trace_.device_tasks.link);
    launches.Link(communication_places_, trace_.communications.link);
    AppendBackwardLinks(backward_flows_, tracks_, trace_);
    AppendQueuedWork(queue_, tracks_, trace_);
    mstx_.Place(tracks_, trace_);
    runtime_.Finish(tracks_);
    trace_.core_clocks.Reorder(trace_.core_clocks.RowsByStart());
  }

 private:
  template <typename T>
  static void Move(const std::vector<T>& from, std::vector<T>& to) {
    to.insert(to.end(), from.begin(), from.end());
  }

  void AddCommunication(const DeviceEvent& event, StringMapping& texts) {
    const CommThreads::Place place = threads_.Of(event.tid);
    if (place.is_group) {
      AppendOperation(event, place.group, texts);
      if (with_runtime_) {
        runtime_.AddCollective({event.pid, event.tid, event.start}, event.dur, texts[event.name],
                               event.args);
      }
    } else {
      trace_.comm_tasks.Append({.start = event.start,
                                .dur = event.dur,
                                .name = texts[event.name],
                                .group = place.group,
                                .plane = event.tid,
                                .dur_rest = event.dur_rest});
    }
  }

  void AppendOperation(const DeviceEvent& event, std::int32_t group, StringMapping& texts) {
    const StringId name = texts[event.name];
    trace_.communications.Append({.start = event.start,
                                  .dur = event.dur,
                                  .name = name,
                                  .op_type = name,
                                  .group = group,
                                  .dur_rest = event.dur_rest});
    communication_places_.push_back({event.pid, event.tid, event.start});
  }

  const Processes& processes_;
  bool with_mstx_, with_runtime_;
  RankTrace& trace_;
  RuntimeTrace runtime_;
  TrackNumbers tracks_;
  CommThreads threads_;
  std::vector<FlowPoint> flows_, backward_flows_;
  std::vector<QueueEvent> queue_;
  std::vector<EventPlace> task_places_, communication_places_;
  MstxTrace mstx_;
};

}  // namespace

void JoinFragments(std::vector<TraceFragment>& fragments, Tables wanted, RankTrace& trace) {
  const Processes processes = FindProcesses(fragments);
  if (processes.hardware) {
    ParallelFor(fragments.size(),
                [&](std::size_t i) { ReadHardwareArgs(fragments[i], *processes.hardware); });
  }
  if (Overlap(wanted, kRuntimeTables)) {
    ParallelFor(fragments.size(),
                [&](std::size_t i) { ReadRuntimeEvents(fragments[i], processes.runtime); });
  }
  Joiner joiner(processes, wanted, trace);
  for (TraceFragment& fragment : fragments) {
    joiner.Add(fragment);
    fragment = TraceFragment();  // its memory is not needed while the rest is joined
  }
  joiner.Finish();
}

}  // namespace mpa::readers
