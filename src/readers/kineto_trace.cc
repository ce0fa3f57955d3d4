// SPDX-License-Identifier: Apache-2.0
// A PyTorch (Kineto) trace of a GPU or NPU: one JSON object with the array traceEvents.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "begin_ends.h"
#include "gpu_launches.h"
#include "kineto_collectives.h"
#include "kineto_join.h"
#include "kineto_memory.h"
#include "lost_work.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/io/numbers.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/model/device_tasks.h"
#include "mpa/model/op_shapes.h"
#include "mpa/model/op_values.h"
#include "mpa/readers/reader.h"
#include "npu_kineto.h"
#include "python_text.h"
#include "trace_builder.h"
#include "trace_events.h"
#include "trace_pieces.h"

namespace mpa::readers {
namespace {

constexpr std::array<std::string_view, 4> kOperatorCategories = {"cpu_op", "user_annotation",
                                                                 "operator", "roctx"};
constexpr std::array<std::string_view, 11> kCallCategories = {
    "cuda_runtime", "cuda_driver",         "runtime",           "xpu_runtime",
    "xpu_driver",   "hip_runtime",         "hip_api",           "hip_driver",
    "mtia_runtime", "privateuse1_runtime", "privateuse1_driver"};
// Work of devices in events whose meaning is not known.
constexpr std::array<std::string_view, 4> kUnknownWorkCategories = {
    "mtia_ccp_events", "mtia_workloadd", "mtia_insight", "hpu_op"};
// Copies have a type of their own: exporters of 2021 write Memcpy and Memset.
constexpr std::array<std::string_view, 2> kCopyCategories = {"gpu_memcpy", "memcpy"};
constexpr std::array<std::string_view, 2> kMemsetCategories = {"gpu_memset", "memset"};
// What exporters write besides on the tracks of streams: no work.
constexpr std::array<std::string_view, 6> kMarkCategories = {
    "gpu_user_annotation", "cuda_sync", "cuda_event", "overhead", "trace", "cuda_profiler_range"};
constexpr std::string_view kCollectiveCategory = "collective_comm";  // of torch.profiler on NPUs
constexpr std::array<std::string_view, 4> kFlowCategories = {"async_gpu", "async_cpu_to_gpu",
                                                             "ac2g", "async"};

template <typename Names>
bool Contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class KinetoFiller {
 public:
  KinetoFiller(KinetoFragment& fragment, DeviceKind device, const ReadRequest& request,
               std::string_view file_name)
      : fragment_(fragment),
        texts_(fragment.part.strings),
        collective_args_(fragment.part),
        is_npu_(device == DeviceKind::kNpu),
        request_(request),
        file_name_(file_name) {}

  void operator()(const TraceEvent& event) {
    if (Is(event.ph, "M")) return;
    if (Is(event.ph, "B") || Is(event.ph, "E")) {
      fragment_.begin_ends.Add(event, fragment_.part.issues, file_name_);
      return;
    }
    const std::string category = ToLower(event.cat);
    if (IsFlow(category)) {
      AddFlow(event, fragment_.rest.flows);
    } else if (category == "fwdbwd") {
      if (Is(event.ph, "f") && !fragment_.first_backward_tid) {
        fragment_.first_backward_tid = IdFrom(event.tid);
      }
      if (Wants(Tables::kBackwardLinks)) AddFlow(event, fragment_.rest.backward_flows);
    } else if (event.ph != "X") {
      if (EqualsIgnoringCase(event.name, "[memory]")) AddMemory(event);
    } else if (Contains(kOperatorCategories, category)) {
      AddHost(event, fragment_.host);
      AddNumbers(event);
    } else if (Contains(kCallCategories, category)) {
      if (is_npu_ && io::NsFromMicros(event.dur) == 0) return;  // where an arrow begins
      AddHost(event, fragment_.host);
      AddCall(event);
    } else if (category == "python_function") {
      if (Wants(Tables::kPythonCalls)) AddHost(event, fragment_.python);
    } else if (Contains(kCopyCategories, category)) {
      AddDevice(event, WorkKind::kCopy);
    } else if (Contains(kMemsetCategories, category)) {
      AddDevice(event, WorkKind::kMemset);
    } else if (category == kCollectiveCategory) {
      AddDevice(event, WorkKind::kCollective);
    } else if (category == "kernel") {
      AddDevice(event, KindOfKernel(event.name));
    } else if (Contains(kUnknownWorkCategories, category)) {
      fragment_.part.issues.Count(Promise::kCategoriesKnown,
                                  "event of the device left out, its category is not supported",
                                  fmt::format("{}: {}", file_name_, category));
    } else if (EqualsIgnoringCase(event.name, "[memory]")) {
      AddMemory(event);
    } else if (!is_npu_ && !Contains(kMarkCategories, category)) {
      AddUnknown(event, category);
    }
  }

 private:
  bool IsFlow(const std::string& category) const {
    const std::string& own = request_.gpu_flow_cat;
    return own.empty() ? Contains(kFlowCategories, category) : category == own;
  }

  bool Wants(Tables tables) const { return Intersects(request_.wanted, tables); }

  std::optional<SpanTimes> SpanOf(const TraceEvent& event) {
    if (event.pid.data() == nullptr || event.tid.data() == nullptr) {
      fragment_.part.issues.Count(
          Promise::kColumnsThere,
          "event without process or thread, where it ran is unknown; collect again",
          Say("{}: \"{}\" at {} us", file_name_, Printable(event.name), event.ts));
    }
    return TimesOf(event, file_name_, fragment_.part.issues);
  }

  StringId Intern(std::string_view text) { return fragment_.part.strings.Intern(text); }

  void AddHost(const TraceEvent& event, std::vector<HostEvent>& events) {
    const auto span = SpanOf(event);
    if (!span) return;
    events.push_back(
        {span->start, span->dur, Intern(event.name), IdFrom(event.pid), IdFrom(event.tid)});
    const bool details = Wants(Tables::kOpDetails);
    const bool shapes = details || Wants(kOpShapes);
    if (!shapes && !Wants(Tables::kOpStacks)) return;
    HostEvent& op = events.back();
    if (details) op.shapes = op.types = op.stack = Intern(kNotRecorded);
    for (const EventArg& arg : event.args) {
      if (shapes && Is(arg.key, "Input Dims")) op.shapes = Intern(PythonText(arg.value));
      if (details && Is(arg.key, "Input type")) op.types = Intern(PythonText(arg.value));
      if (Wants(Tables::kOpStacks) && Is(arg.key, "Call stack")) op.stack = texts_.Intern(arg);
    }
    if (WantsOpValues(request_.wanted)) AddValues(event, op);
  }

  void AddValues(const TraceEvent& event, HostEvent& op) {
    const std::string_view values = event.Arg("Concrete Inputs");
    if (values.empty()) return;
    const std::string types(fragment_.part.strings.View(op.types));
    op.types = Intern(fmt::format("{}\n{}", types, PythonText(values)));
  }

  // By which collectives, and the arrows of NPUs, find an operator.
  void AddNumbers(const TraceEvent& event) {
    const bool is_of_collective = event.name == kCollectiveOperator;
    if (!is_npu_ && !is_of_collective) return;
    const auto time = io::NsFromMicros(event.ts);
    const auto dur = io::NsFromMicros(event.dur);
    if (!time || !dur) return;
    const EventPlace place{IdFrom(event.pid), IdFrom(event.tid), *time};
    if (is_of_collective) {
      fragment_.collective_operators.push_back({place, *time + *dur, collective_args_.Read(event)});
    }
    if (!is_npu_) return;
    NumberedOperator op{place};
    for (const EventArg& arg : event.args) {
      if (Is(arg.key, "Record function id")) op.record = io::ParseInt(arg.value).value_or(-1);
      if (Is(arg.key, "External id")) op.external = io::ParseInt(arg.value).value_or(-1);
    }
    fragment_.rest.numbered.push_back(op);
  }

  void AddCall(const TraceEvent& event) {
    const auto time = io::NsFromMicros(event.ts);
    if (!time) return;
    const CallKind kind = CallKindOf(event.name);
    const auto correlation = NumberFrom(event.Arg("correlation"));
    if (!correlation && kind == CallKind::kOther) return;
    const EventPlace place{IdFrom(event.pid), IdFrom(event.tid), *time};
    fragment_.rest.calls.push_back({place, correlation.value_or(-1), kind});
    if (!correlation || !Wants(Tables::kNamedLaunches)) return;
    for (const EventArg& arg : event.args) {
      if (Is(arg.key, "kernel")) fragment_.named_launches.push_back({place, texts_.Intern(arg)});
    }
  }

  CallKind CallKindOf(std::string_view name) {
    const auto [known, is_new] = calls_.try_emplace(Intern(name), CallKind::kOther);
    if (is_new) known->second = KindOfCall(name);
    return known->second;
  }

  void AddFlow(const TraceEvent& event, std::vector<FlowPoint>& flows) {
    const auto time = io::NsFromMicros(event.ts);
    if (!time || (event.ph != "s" && event.ph != "f")) return;
    if (event.id.data() == nullptr) {
      fragment_.part.issues.Count(
          Promise::kArrowsHaveEnds,
          "arrow left out, it has no number: operators may lack their work; export again",
          Say("{}: \"{}\" at {} us", file_name_, Printable(event.name), event.ts));
      return;
    }
    flows.push_back(
        {IdFrom(event.id), Is(event.ph, "f"), *time, IdFrom(event.pid), IdFrom(event.tid)});
  }

  // Which table device work belongs to. The category decides, then the name.
  enum class WorkKind : std::uint8_t { kKernel, kCollective, kCopy, kMemset };

  WorkKind KindOfKernel(std::string_view name) {
    const auto [known, is_new] = kinds_.try_emplace(Intern(name), WorkKind::kKernel);
    if (!is_new) return known->second;
    if (IsCommunicationKernel(name, request_.masks)) {
      known->second = WorkKind::kCollective;
    } else if (IsCopyName(name)) {
      known->second = StartsWithIgnoringCase(name, "memset") ? WorkKind::kMemset : WorkKind::kCopy;
    }
    return known->second;
  }

  static CorrelatedEvent WorkOf(const TraceEvent& event, TimeNs start) {
    CorrelatedEvent work{{IdFrom(event.pid), IdFrom(event.tid), start}};
    work.device = work.place.pid;
    for (const EventArg& arg : event.args) {
      if (Is(arg.key, "correlation")) work.correlation = NumberFrom(arg.value).value_or(-1);
      if (Is(arg.key, "device")) work.device = NumberFrom(arg.value).value_or(work.device);
    }
    return work;
  }

  // Whether it is work of the device is known when all streams are.
  void AddUnknown(const TraceEvent& event, const std::string& category) {
    const auto start = io::NsFromMicros(event.ts);
    const auto dur = io::NsFromMicros(event.dur);
    if (!start || !dur || *dur < 0) return;
    fragment_.unknown.Append({.start = *start,
                              .dur = *dur,
                              .name = Intern(event.name),
                              .op_type = Intern(category),
                              .stream = IdFrom(event.tid)});
    fragment_.unknown_events.push_back(WorkOf(event, *start));
    fragment_.unknown_is_work.push_back(fragment_.unknown_events.back().correlation >= 0 &&
                                        event.FindArg("stream") != nullptr);
  }

  void AddDevice(const TraceEvent& event, WorkKind kind) {
    const auto span = SpanOf(event);
    if (!span) return;
    const StringId name = Intern(event.name);
    const CorrelatedEvent work = WorkOf(event, span->start);
    const std::int64_t stream = work.place.tid;
    StringId core{};
    for (const EventArg& arg : event.args) {
      if (is_npu_ && Is(arg.key, "type")) core = Intern(arg.value);
    }
    switch (kind) {
      case WorkKind::kCopy:
      case WorkKind::kMemset:
        fragment_.part.device_tasks.Append(
            {.start = span->start,
             .dur = span->dur,
             .name = name,
             .type = Intern(kind == WorkKind::kCopy ? kGpuCopy : kGpuMemset),
             .stream = stream,
             .direction = DirectionOfCopyName(event.name)});
        fragment_.rest.work.tasks.push_back(work);
        break;
      case WorkKind::kCollective: {
        Communications::Row collective = collective_args_.Read(event);
        collective.start = span->start;
        collective.dur = span->dur;
        collective.name = name;
        if (collective.op_type == StringId::kEmpty) collective.op_type = name;
        fragment_.part.communications.Append(collective);
        fragment_.rest.work.communications.push_back(work);
        break;
      }
      case WorkKind::kKernel:
        fragment_.part.kernels.Append(
            {.start = span->start, .dur = span->dur, .name = name, .core = core, .stream = stream});
        fragment_.rest.work.kernels.push_back(work);
        break;
    }
  }

  void AddMemory(const TraceEvent& event) {
    ReadMemoryEvent(event, file_name_, fragment_.part, fragment_.rest.memory);
  }

  KinetoFragment& fragment_;
  EscapedTexts texts_;
  CollectiveArgs collective_args_;
  bool is_npu_;
  const ReadRequest& request_;
  std::string_view file_name_;
  std::unordered_map<StringId, WorkKind> kinds_;  // by name of a kernel
  std::unordered_map<StringId, CallKind> calls_;  // by name of a call
};

void ReadKineto(DeviceKind device, const CaptureFile& file, const ReadRequest& request,
                RankTrace& trace) {
  trace.device = device;
  const std::string file_name = file.path.filename().string();
  KinetoTraceJoin join(trace);
  BeginEnds begin_ends;
  ReadPieces<KinetoFragment>(
      file, trace.issues,
      [&](EventParser& parser, const io::EventPiece& piece, KinetoFragment& fragment) {
        KinetoFiller filler(fragment, device, request, file_name);
        return parser.Parse(piece, file_name, fragment.part.issues, std::ref(filler));
      },
      [&](KinetoFragment& fragment) {
        join.Add(fragment);
        begin_ends.Append(std::move(fragment.begin_ends));
      });
  KinetoFragment of_pairs;
  KinetoFiller filler(of_pairs, device, request, file_name);
  begin_ends.ForEachSpan(of_pairs.part.issues, file_name, std::ref(filler));
  join.Add(of_pairs);
  // A single process has no peers, so its collectives prove nothing. Host backends name themselves.
  join.Finish(request, file_name, [&] {
    const auto is_of_host = [&](StringId op) {
      const std::string_view name = trace.strings.View(op);
      return name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("ucc:");
    };
    return ReadGpuTraceFacts(file.path).world_size.value_or(1) > 1 &&
           std::ranges::none_of(trace.host_ops.name, is_of_host);
  });
}

void ReadGpuTrace(const CaptureFile& file, const ReadRequest& request, RankTrace& trace) {
  ReadKineto(DeviceKind::kGpu, file, request, trace);
}

void ReadNpuTrace(const CaptureFile& file, const ReadRequest& request, RankTrace& trace) {
  ReadKineto(DeviceKind::kNpu, file, request, trace);
}

constexpr Tables kKinetoTables =
    Tables::kHostOps | Tables::kLaunches | Tables::kKernels | Tables::kDeviceTasks |
    Tables::kCommunications | Tables::kMemorySamples | Tables::kAllocations | Tables::kPythonCalls |
    Tables::kBackwardLinks | Tables::kSteps | Tables::kJobInfo | Tables::kNamedLaunches;

}  // namespace

Reader KinetoTrace() { return {"GPU trace", FileKind::kKinetoTrace, kKinetoTables, ReadGpuTrace}; }

Reader NpuKinetoTrace() {
  return {"NPU trace of torch.profiler", FileKind::kNpuKinetoTrace, kKinetoTables, ReadNpuTrace};
}

}  // namespace mpa::readers
