// SPDX-License-Identifier: Apache-2.0
// trace_view.json: the whole timeline of an NPU text capture. Pieces of the file are parsed in
// parallel into fragments; device events are told apart by their process, whose name may come last.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>

#include "mpa/base/parallel.h"
#include "mpa/base/text.h"
#include "mpa/io/input_text.h"
#include "mpa/io/json_cut.h"
#include "mpa/io/numbers.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/readers/reader.h"
#include "trace_builder.h"
#include "trace_events.h"
#include "trace_mstx.h"
#include "trace_runtime.h"

namespace mpa::readers {
namespace {

constexpr Tables kRuntimeTables =
    Tables::kHostCalls | Tables::kDeviceRuns | Tables::kModelIterations;

struct DeviceEvent {
  TimeNs start, dur;
  StringId name;
  std::int64_t pid, tid;
  std::string_view args;
  float dur_rest = 0;
  StringId type{};  // set once the process is known
  std::int64_t stream = -1, task_id = -1;
};

struct Metadata {
  std::int64_t pid, tid;
  StringId kind;  // process_name, thread_name, thread_sort_index
  std::string_view args;
};

// What one piece of the file holds.
struct Fragment {
  StringPool strings;
  Issues issues;
  std::vector<HostEvent> host, python;
  std::vector<DeviceEvent> device;
  std::vector<FlowPoint> flows, backward_flows, runtime_flows;
  std::vector<QueueEvent> queue;  // names are texts of the fragment
  std::vector<Metadata> metadata;
  std::vector<RuntimeEvent> runtime;  // set once the processes are known
  GarbageCollections garbage_collections;
  CoreClocks core_clocks;
  std::int64_t backward_tid = -1;
};

// Sorts one event into the fragment; events that nothing reads are dropped.
class FragmentFiller {
 public:
  FragmentFiller(Fragment& fragment, const ReadRequest& request, std::string_view file_name)
      : fragment_(fragment), request_(request), file_name_(file_name) {}

  void operator()(const TraceEvent& event) {
    if (event.ph == "M") {
      fragment_.metadata.push_back(
          {IdFrom(event.pid), IdFrom(event.tid), fragment_.strings.Intern(event.name), event.args});
    } else if (event.ph == "X") {
      AddSpan(event);
    } else if (event.ph == "s" || event.ph == "f") {
      AddFlow(event);
    } else if (event.ph == "C" && event.name == "AI Core Freq" && Wanted(Tables::kCoreClocks)) {
      AddCoreClock(event);
    }
  }

 private:
  enum class Kind { kDevice, kHostOp, kPython, kDemand, kWork, kGarbage, kUnread };

  Kind KindOf(std::string_view category) const {
    if (category.empty()) return Kind::kDevice;
    if (EqualsIgnoringCase(category, "cpu_op")) return Kind::kHostOp;
    if (EqualsIgnoringCase(category, "python_function")) {
      return Wanted(Tables::kPythonCalls) ? Kind::kPython : Kind::kUnread;
    }
    if (EqualsIgnoringCase(category, "gc")) {
      return Wanted(Tables::kGarbageCollections) ? Kind::kGarbage : Kind::kUnread;
    }
    if (!Wanted(Tables::kQueuedWork)) return Kind::kUnread;
    if (EqualsIgnoringCase(category, "enqueue")) return Kind::kDemand;
    return EqualsIgnoringCase(category, "dequeue") ? Kind::kWork : Kind::kUnread;
  }

  bool Wanted(Tables tables) const { return Overlap(request_.wanted, tables); }

  void AddSpan(const TraceEvent& event) {
    const Kind kind = KindOf(event.cat);
    if (kind == Kind::kUnread) return;
    const auto start = io::NsFromMicros(event.ts);
    const auto dur = event.dur.empty() ? 0 : io::NsFromMicros(event.dur);
    if (!start || !dur || !IsDuration(*dur)) {
      fragment_.issues.Count("event left out, its start or duration is no time",
                             fmt::format("{}: \"{}\"", file_name_, event.name));
      return;
    }
    const StringId name = fragment_.strings.Intern(event.name);
    const std::int64_t pid = IdFrom(event.pid);
    const std::int64_t tid = IdFrom(event.tid);
    if (kind == Kind::kHostOp) {
      fragment_.host.push_back({*start, *dur, name, pid, tid});
      if (Wanted(Tables::kOpDetails)) ReadOpArgs(event.args, fragment_.host.back());
    } else if (kind == Kind::kPython) {
      fragment_.python.push_back({*start, *dur, name, pid, tid});
    } else if (kind == Kind::kDevice) {
      fragment_.device.push_back(
          {*start, *dur, name, pid, tid, event.args, io::MicrosBeyondNs(event.dur)});
    } else if (kind == Kind::kGarbage) {
      fragment_.garbage_collections.Append({.start = *start, .dur = *dur});
    } else {
      AddQueueEvent(event, {0, kind == Kind::kWork, *start, *dur, pid, tid, name});
    }
  }

  void ReadOpArgs(std::string_view args, HostEvent& op) {
    op.shapes = op.types = op.stack = fragment_.strings.Intern(kNotRecorded);
    ForEachMember(args, [&](std::string_view key, std::string_view value) {
      if (key == "Input Dims") op.shapes = fragment_.strings.Intern(value);
      if (key == "Input type") op.types = fragment_.strings.Intern(value);
      if (key == "Call stack") op.stack = fragment_.strings.Intern(value);
    });
  }

  void AddQueueEvent(const TraceEvent& event, QueueEvent queued) {
    bool has_id = false;
    ForEachMember(event.args, [&](std::string_view key, std::string_view value) {
      if (key != "correlation_id") return;
      queued.id = IdFrom(value);
      has_id = true;
    });
    if (has_id) fragment_.queue.push_back(queued);
  }

  void AddFlow(const TraceEvent& event) {
    const bool is_end = event.ph == "f";
    const bool is_launch = EqualsIgnoringCase(event.cat, "async_npu");
    const bool is_backward = !is_launch && EqualsIgnoringCase(event.cat, "fwdbwd");
    const bool is_runtime = !is_launch && !is_backward && Wanted(kRuntimeTables) &&
                            EqualsIgnoringCase(event.cat, "hosttodevice");
    if (!is_launch && !is_backward && !is_runtime) return;
    if (is_backward && is_end) fragment_.backward_tid = IdFrom(event.tid);
    const auto time = io::NsFromMicros(event.ts);
    if (!time || (is_backward && !Wanted(Tables::kBackwardLinks))) return;
    (is_launch     ? fragment_.flows
     : is_backward ? fragment_.backward_flows
                   : fragment_.runtime_flows)
        .push_back({IdFrom(event.id), is_end, *time, IdFrom(event.pid), IdFrom(event.tid)});
  }

  void AddCoreClock(const TraceEvent& event) {
    const auto time = io::NsFromMicros(event.ts);
    const auto mhz = io::ParseInt(MemberText(event.args, "MHz"));
    if (time && mhz && *mhz > 0) fragment_.core_clocks.Append({.start = *time, .mhz = *mhz});
  }

  Fragment& fragment_;
  const ReadRequest& request_;
  std::string_view file_name_;
};

// The processes that hold device events, and the threads of the communication process.
struct Processes {
  std::optional<std::int64_t> hardware, communication, overlap;
  std::map<std::int64_t, std::string> comm_thread_names;      // by tid
  std::map<std::int64_t, std::int64_t> comm_thread_of_index;  // sort index -> tid
  std::map<std::int64_t, RuntimeProcess> runtime;             // by pid
};

Processes FindProcesses(const std::vector<Fragment>& fragments) {
  Processes found;
  const auto each = [&](std::string_view kind, auto on_metadata) {
    for (const Fragment& fragment : fragments) {
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
void ReadHardwareArgs(Fragment& fragment, std::int64_t hardware_pid) {
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

void ReadRuntimeEvents(Fragment& fragment, const std::map<std::int64_t, RuntimeProcess>& of_pid) {
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

  void Add(const Fragment& fragment) {
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

void Read(const CaptureFile& file, const ReadRequest& request, RankTrace& trace) {
  const io::InputText input(file.path);
  const std::string file_name = file.path.filename().string();
  const io::CutArray cut = CutEvents(file, input.text(), trace.issues);
  std::vector<Fragment> fragments(cut.pieces.size());
  ParallelFor(fragments.size(), [&](std::size_t i) {
    ForEachEvent(cut.pieces[i], file_name, fragments[i].issues,
                 FragmentFiller(fragments[i], request, file_name));
  });
  const Processes processes = FindProcesses(fragments);
  if (processes.hardware) {
    ParallelFor(fragments.size(),
                [&](std::size_t i) { ReadHardwareArgs(fragments[i], *processes.hardware); });
  }
  if (Overlap(request.wanted, kRuntimeTables)) {
    ParallelFor(fragments.size(),
                [&](std::size_t i) { ReadRuntimeEvents(fragments[i], processes.runtime); });
  }
  Joiner joiner(processes, request.wanted, trace);
  for (Fragment& fragment : fragments) {
    joiner.Add(fragment);
    fragment = Fragment();  // its memory is not needed while the rest is joined
  }
  joiner.Finish();
}

}  // namespace

Reader TraceView() {
  return {"trace_view.json", FileKind::kTraceView,
          Tables::kHostOps | Tables::kLaunches | Tables::kDeviceTasks | Tables::kCommunications |
              Tables::kCommTasks | Tables::kOverlaps | Tables::kSteps | Tables::kPythonCalls |
              Tables::kBackwardLinks | Tables::kQueuedWork | Tables::kMstx | Tables::kCoreClocks |
              kRuntimeTables | Tables::kGarbageCollections,
          Read};
}

}  // namespace mpa::readers
