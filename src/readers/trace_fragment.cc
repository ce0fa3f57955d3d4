// SPDX-License-Identifier: Apache-2.0
#include "trace_fragment.h"

#include <fmt/format.h>

#include <functional>
#include <string>

#include "comm_task_facts.h"
#include "megabytes.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/io/numbers.h"
#include "mpa/model/device_tasks.h"

namespace mpa::readers {
namespace {

// A number; the largest of 32 bits stands for none.
std::int64_t NumberOrNone(std::string_view text) {
  const std::int64_t number = io::ParseInt(text).value_or(-1);
  return number == 4294967295 ? -1 : number;
}

// Sorts one event into the fragment; events that are not needed are dropped.
class FragmentFiller {
 public:
  FragmentFiller(TraceFragment& fragment, const ReadRequest& request, std::string_view file_name)
      : fragment_(fragment), texts_(fragment.strings), request_(request), file_name_(file_name) {}

  void operator()(const TraceEvent& event) {
    if (Is(event.ph, "M")) {
      AddMetadata(event);
    } else if (Is(event.ph, "X")) {
      AddSpan(event);
    } else if (Is(event.ph, "s") || Is(event.ph, "f")) {
      AddFlow(event);
    } else if (Is(event.ph, "B") || Is(event.ph, "E")) {
      fragment_.begin_ends.Add(event, fragment_.issues, file_name_);
    } else if (Is(event.ph, "C") && event.name == "AI Core Freq") {
      if (Wants(Tables::kCoreClocks)) AddCoreClock(event);
    } else if (Is(event.ph, "C") && Wants(Tables::kCounters)) {
      AddCounter(event);
    }
  }

 private:
  enum class Kind { kDevice, kHostOp, kPython, kDemand, kWork, kGarbage, kUnread };

  Kind KindOf(std::string_view category) const {
    if (category.empty()) return Kind::kDevice;
    if (EqualsIgnoringCase(category, "cpu_op")) return Kind::kHostOp;
    if (EqualsIgnoringCase(category, "python_function")) {
      return Wants(Tables::kPythonCalls) ? Kind::kPython : Kind::kUnread;
    }
    if (EqualsIgnoringCase(category, "gc")) {
      return Wants(Tables::kGarbageCollections) ? Kind::kGarbage : Kind::kUnread;
    }
    if (!Wants(Tables::kQueuedWork)) return Kind::kUnread;
    if (EqualsIgnoringCase(category, "enqueue")) return Kind::kDemand;
    return EqualsIgnoringCase(category, "dequeue") ? Kind::kWork : Kind::kUnread;
  }

  std::string Place(const TraceEvent& event) const {
    return Say("{}: \"{}\" at {} us", file_name_, Printable(event.name), Printable(event.ts));
  }

  bool Wants(Tables tables) const { return Intersects(request_.wanted, tables); }

  void AddSpan(const TraceEvent& event) {
    const Kind kind = KindOf(event.cat);
    if (kind == Kind::kUnread) return;
    const auto times = TimesOf(event, file_name_, fragment_.issues);
    if (!times) return;
    const auto [start, dur] = *times;
    if (event.pid.empty() || event.tid.empty()) {
      fragment_.issues.Count(
          Promise::kColumnsThere,
          "thread of an event is unknown, its pid or tid is missing; parse again", Place(event));
    }
    const StringId name = fragment_.strings.Intern(event.name);
    const std::int64_t pid = IdFrom(event.pid);
    const std::int64_t tid = IdFrom(event.tid);
    if (kind == Kind::kHostOp) {
      fragment_.host.push_back({start, dur, name, pid, tid});
      if (Wants(Tables::kOpDetails)) ReadOpArgs(event.args, fragment_.host.back());
      if (Wants(Tables::kOpStacks)) ReadStack(event.args, fragment_.host.back());
    } else if (kind == Kind::kPython) {
      fragment_.python.push_back({start, dur, name, pid, tid});
    } else if (kind == Kind::kDevice) {
      AddDeviceEvent(event, {{.start = start,
                              .dur = dur,
                              .name = name,
                              .stream = tid,
                              .dur_rest = io::MicrosBeyondNs(event.dur)},
                             pid,
                             tid});
    } else if (kind == Kind::kGarbage) {
      fragment_.garbage_collections.Append({.start = start, .dur = dur});
    } else {
      AddQueueEvent(event, {0, kind == Kind::kWork, start, dur, pid, tid, name});
    }
  }

  void AddMetadata(const TraceEvent& event) {
    const auto add = [&](Metadata::Kind kind, std::string_view key) {
      const EventArg* value = event.FindArg(key);
      fragment_.metadata.push_back({kind, IdFrom(event.pid), IdFrom(event.tid),
                                    value == nullptr ? StringId::kEmpty : texts_.Intern(*value)});
    };
    if (event.name == "process_name") add(Metadata::Kind::kProcessName, "name");
    if (event.name == "thread_name") add(Metadata::Kind::kThreadName, "name");
    if (event.name == "thread_sort_index") add(Metadata::Kind::kThreadSortIndex, "sort_index");
  }

  void ReadOpArgs(const std::vector<EventArg>& args, HostEvent& op) {
    op.shapes = op.types = op.stack = fragment_.strings.Intern(kNotRecorded);
    for (const EventArg& arg : args) {
      if (Is(arg.key, "Input Dims")) op.shapes = texts_.Intern(arg);
      if (Is(arg.key, "Input type")) op.types = texts_.Intern(arg);
    }
  }

  void ReadStack(const std::vector<EventArg>& args, HostEvent& op) {
    for (const EventArg& arg : args) {
      if (Is(arg.key, "Call stack")) op.stack = texts_.Intern(arg);
    }
  }

  void AddDeviceEvent(const TraceEvent& event, DeviceEvent device) {
    for (const EventArg& arg : event.args) {
      if (Is(arg.key, "Task Type")) {
        device.type = texts_.Intern(arg);
      } else if (Is(arg.key, "Stream Id") || Is(arg.key, "Physic Stream Id")) {
        device.stream = io::ParseInt(arg.value).value_or(device.tid);
      } else if (Is(arg.key, "Task Id")) {
        device.task_id = io::ParseInt(arg.value).value_or(-1);
      } else if (Is(arg.key, "connection_id")) {
        device.connection = NumberOrNone(arg.value);
      } else if (Is(arg.key, "Model Id")) {
        device.model = NumberOrNone(arg.value);
      } else if (Is(arg.key, "operation")) {
        device.direction = CopyDirectionNamed(arg.value);
      }
    }
    fragment_.device.push_back(device);
    if (Wants(Tables::kCommTasks | Tables::kCommunications)) ReadCommArgs(event);
    if (Wants(kRuntimeTables)) {
      fragment_.runtime_args.push_back(ReadRuntimeArgs(event, Wants(Tables::kDeviceRuns), texts_));
    }
    if (Wants(Tables::kMstx)) fragment_.mstx_args.push_back(ReadMstxArgs(event, texts_));
  }

  void ReadCommArgs(const TraceEvent& event) {
    CommArgs args{.event = fragment_.device.size() - 1};
    const auto kind = [&](const EventArg& arg) {
      return fragment_.strings.Intern(KindOrNone(arg.value));
    };
    const auto number = [](const EventArg& arg) { return io::ParseInt(arg.value).value_or(-1); };
    bool has_any = false;
    for (const EventArg& arg : event.args) {
      if (Is(arg.key, "src rank")) {
        args.own_rank = RankInGroup(number(arg));
      } else if (Is(arg.key, "dst rank")) {
        args.peer = RankInGroup(number(arg));
      } else if (Is(arg.key, "size(Byte)")) {
        args.bytes = SizeOrNone(number(arg));
      } else if (Is(arg.key, "transport type")) {
        args.transport = kind(arg);
      } else if (Is(arg.key, "link type")) {
        args.link_type = kind(arg);
      } else if (Is(arg.key, "notify_id")) {
        args.notify = NotifyOrNone(static_cast<std::uint64_t>(number(arg)));
      } else if (Is(arg.key, "stream id")) {
        args.stream = number(arg);
      } else if (Is(arg.key, "data_type")) {
        args.data_type = kind(arg);
      } else if (Is(arg.key, "count")) {
        args.count = number(arg);
      } else {
        continue;
      }
      has_any = true;
    }
    if (has_any) fragment_.comm_args.push_back(args);
  }

  void AddQueueEvent(const TraceEvent& event, QueueEvent queued) {
    const std::string_view id = event.Arg("correlation_id");
    if (id.empty()) {
      fragment_.issues.Count(
          Promise::kColumnsThere,
          "work of the task queue left out, it has no correlation_id; parse again", Place(event));
      return;
    }
    queued.id = IdFrom(id);
    fragment_.queue.push_back(queued);
  }

  void AddFlow(const TraceEvent& event) {
    const bool is_end = Is(event.ph, "f");
    const bool is_launch = EqualsIgnoringCase(event.cat, "async_npu");
    const bool is_backward = !is_launch && EqualsIgnoringCase(event.cat, "fwdbwd");
    const bool is_runtime =
        !is_launch && !is_backward && EqualsIgnoringCase(event.cat, "hosttodevice");
    const bool is_mark = !is_launch && !is_backward && !is_runtime && Wants(Tables::kMstx) &&
                         EqualsIgnoringCase(event.cat, "mstx");
    if (!is_launch && !is_backward && !is_runtime && !is_mark) return;
    if (is_backward && is_end) fragment_.backward_tid = IdFrom(event.tid);
    if (is_backward && !Wants(Tables::kBackwardLinks)) return;
    const auto time = io::NsFromMicros(event.ts);
    const char* const lacks = event.id.empty() ? "number" : !time ? "time" : nullptr;
    if (lacks != nullptr) {
      fragment_.issues.Count(
          Promise::kArrowsHaveEnds,
          Say("arrow left out, it has no {}: what launched what is unknown; parse again",
              Translated(lacks)),
          Place(event));
      return;
    }
    (is_launch     ? fragment_.flows
     : is_backward ? fragment_.backward_flows
     : is_mark     ? fragment_.mstx_flows
                   : fragment_.runtime_flows)
        .push_back({IdFrom(event.id), is_end, *time, IdFrom(event.pid), IdFrom(event.tid)});
  }

  void AddCoreClock(const TraceEvent& event) {
    const auto time = io::NsFromMicros(event.ts);
    const auto mhz = io::ParseInt(event.Arg("MHz"));
    if (time && mhz && IsClock(*mhz)) fragment_.core_clocks.Append({.start = *time, .mhz = *mhz});
  }

  // Of an accelerator its number is an arg among the values.
  void AddCounter(const TraceEvent& event) {
    constexpr std::string_view kId = "acc_id";
    const auto time = io::NsFromMicros(event.ts);
    const std::string_view id = event.Arg(kId);
    for (const EventArg& arg : event.args) {
      if (arg.key == kId) continue;
      const auto value = io::ParseReal(arg.value);
      if (!time || !value) {
        fragment_.issues.Count("sample of a counter left out, invalid time or value", Place(event));
        continue;
      }
      fragment_.counters.push_back({.pid = IdFrom(event.pid),
                                    .name = fragment_.strings.Intern(event.name),
                                    .series = fragment_.strings.Intern(arg.key),
                                    .id = fragment_.strings.Intern(id),
                                    .time = *time,
                                    .value = *value});
    }
  }

  TraceFragment& fragment_;
  EscapedTexts texts_;
  const ReadRequest& request_;
  std::string_view file_name_;
};

}  // namespace

bool FillFragment(EventParser& parser, const io::EventPiece& piece, const ReadRequest& request,
                  std::string_view file_name, TraceFragment& fragment) {
  FragmentFiller filler(fragment, request, file_name);
  return parser.Parse(piece, file_name, fragment.issues, std::ref(filler));
}

void FillFragment(BeginEnds& begin_ends, const ReadRequest& request, std::string_view file_name,
                  TraceFragment& fragment) {
  FragmentFiller filler(fragment, request, file_name);
  begin_ends.ForEachSpan(fragment.issues, file_name, std::ref(filler));
}

}  // namespace mpa::readers
