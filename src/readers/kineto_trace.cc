// SPDX-License-Identifier: Apache-2.0
// A PyTorch (Kineto) trace of a GPU: one JSON object with the array traceEvents.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "mpa/base/parallel.h"
#include "mpa/base/text.h"
#include "mpa/io/input_text.h"
#include "mpa/io/json_cut.h"
#include "mpa/io/numbers.h"
#include "mpa/readers/reader.h"
#include "trace_builder.h"
#include "trace_events.h"

namespace mpa::readers {
namespace {

constexpr std::array<std::string_view, 6> kHostCategories = {
    "cpu_op", "user_annotation", "cuda_runtime", "cuda_driver", "operator", "runtime"};
constexpr std::array<std::string_view, 4> kFlowCategories = {"async_gpu", "async_cpu_to_gpu",
                                                             "ac2g", "async"};

template <typename Names>
bool Contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What one piece of the file holds.
struct Fragment {
  RankTrace part;  // strings, kernels, communications, device_tasks, memory_samples, issues
  std::vector<HostEvent> host;
  std::vector<FlowPoint> flows;
  std::optional<std::int64_t> first_backward_tid;
};

class FragmentFiller {
 public:
  FragmentFiller(Fragment& fragment, const std::string& flow_category, std::string_view file_name)
      : fragment_(fragment), flow_category_(flow_category), file_name_(file_name) {}

  void operator()(const TraceEvent& event) {
    if (event.ph == "M") return;
    const std::string category = ToLower(event.cat);
    if (IsFlow(category)) {
      AddFlow(event);
    } else if (category == "fwdbwd") {
      if (event.ph == "f" && !fragment_.first_backward_tid) {
        fragment_.first_backward_tid = IdFrom(event.tid);
      }
    } else if (Contains(kHostCategories, category)) {
      AddHost(event);
    } else if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset") {
      AddDevice(event, category);
    } else if (EqualsMemory(event.name)) {
      AddMemory(event);
    }
  }

 private:
  struct Span {
    TimeNs start, dur;
  };

  bool IsFlow(const std::string& category) const {
    return flow_category_.empty() ? Contains(kFlowCategories, category)
                                  : category == flow_category_;
  }

  static bool EqualsMemory(std::string_view name) {
    return name.size() == 8 && ToLower(name) == "[memory]";
  }

  std::optional<Span> SpanOf(const TraceEvent& event) {
    const auto start = io::NsFromMicros(event.ts);
    const auto dur = event.dur.empty() ? 0 : io::NsFromMicros(event.dur);
    if (start && dur && *dur >= 0) return Span{*start, *dur};
    fragment_.part.issues.Count("event left out, its start or duration is no time",
                                fmt::format("{}: \"{}\"", file_name_, event.name));
    return std::nullopt;
  }

  StringId Intern(std::string_view text) { return fragment_.part.strings.Intern(text); }

  void AddHost(const TraceEvent& event) {
    const auto span = SpanOf(event);
    if (!span) return;
    fragment_.host.push_back(
        {span->start, span->dur, Intern(event.name), IdFrom(event.pid), IdFrom(event.tid)});
  }

  void AddFlow(const TraceEvent& event) {
    const auto time = io::NsFromMicros(event.ts);
    if (!time || (event.ph != "s" && event.ph != "f")) return;
    fragment_.flows.push_back(
        {IdFrom(event.id), event.ph == "f", *time, IdFrom(event.pid), IdFrom(event.tid)});
  }

  void AddDevice(const TraceEvent& event, const std::string& category) {
    const auto span = SpanOf(event);
    if (!span) return;
    const StringId name = Intern(event.name);
    const std::int64_t stream = IdFrom(event.tid);
    if (category != "kernel") {
      fragment_.part.device_tasks.Append({.start = span->start,
                                          .dur = span->dur,
                                          .name = name,
                                          .type = Intern(category),
                                          .stream = stream});
    } else if (ToLower(event.name.substr(0, 4)) == "nccl") {
      fragment_.part.communications.Append(
          {.start = span->start, .dur = span->dur, .name = name, .op_type = name});
    } else {
      fragment_.part.kernels.Append(
          {.start = span->start, .dur = span->dur, .name = name, .stream = stream});
    }
  }

  void AddMemory(const TraceEvent& event) {
    std::int64_t device = -1;
    std::int64_t reserved = 0;
    ForEachMember(event.args, [&](std::string_view key, std::string_view value) {
      if (key == "Device Id") device = io::ParseInt(value).value_or(-1);
      if (key == "Total Reserved") reserved = io::ScaledDecimal(value, 0).value_or(0);
    });
    const auto time = io::NsFromMicros(event.ts);
    if (device < 0 || !time) return;  // memory of the host
    fragment_.part.memory_samples.Append({.time = *time, .reserved_bytes = reserved});
  }

  Fragment& fragment_;
  const std::string& flow_category_;
  std::string_view file_name_;
};

void Join(const Fragment& fragment, TrackNumbers& tracks, RankTrace& trace) {
  const RankTrace& part = fragment.part;
  StringMapping texts(part.strings, trace.strings);
  AppendHostOps(fragment.host, texts, tracks, trace);
  for (std::size_t i = 0; i < part.kernels.Size(); ++i) {
    trace.kernels.Append({.start = part.kernels.start[i],
                          .dur = part.kernels.dur[i],
                          .name = texts[part.kernels.name[i]],
                          .stream = part.kernels.stream[i]});
  }
  for (std::size_t i = 0; i < part.communications.Size(); ++i) {
    const StringId name = texts[part.communications.name[i]];
    trace.communications.Append({.start = part.communications.start[i],
                                 .dur = part.communications.dur[i],
                                 .name = name,
                                 .op_type = name});
  }
  for (std::size_t i = 0; i < part.device_tasks.Size(); ++i) {
    trace.device_tasks.Append({.start = part.device_tasks.start[i],
                               .dur = part.device_tasks.dur[i],
                               .name = texts[part.device_tasks.name[i]],
                               .type = texts[part.device_tasks.type[i]],
                               .stream = part.device_tasks.stream[i]});
  }
  for (std::size_t i = 0; i < part.memory_samples.Size(); ++i) {
    trace.memory_samples.Append({.time = part.memory_samples.time[i],
                                 .reserved_bytes = part.memory_samples.reserved_bytes[i]});
  }
  if (trace.backward_tid == -1 && fragment.first_backward_tid) {
    trace.backward_tid = *fragment.first_backward_tid;
  }
  trace.issues.Merge(part.issues);
}

void Read(const CaptureFile& file, const ReadRequest& request, RankTrace& trace) {
  trace.device = DeviceKind::kGpu;
  const io::InputText input(file.path);
  const std::string file_name = file.path.filename().string();
  const io::CutArray cut = CutEvents(file, input.text(), trace.issues);
  std::vector<Fragment> fragments(cut.pieces.size());
  ParallelFor(fragments.size(), [&](std::size_t i) {
    ForEachEvent(cut.pieces[i], file_name, fragments[i].part.issues,
                 FragmentFiller(fragments[i], request.gpu_flow_cat, file_name));
  });
  TrackNumbers tracks(trace.tracks);
  std::vector<FlowPoint> flows;
  for (Fragment& fragment : fragments) {
    Join(fragment, tracks, trace);
    flows.insert(flows.end(), fragment.flows.begin(), fragment.flows.end());
    fragment = Fragment();
  }
  AppendLaunches(flows, tracks, trace);
}

}  // namespace

Reader KinetoTrace() {
  return {"GPU trace", FileKind::kKinetoTrace,
          Tables::kHostOps | Tables::kLaunches | Tables::kKernels | Tables::kDeviceTasks |
              Tables::kCommunications | Tables::kMemorySamples | Tables::kSteps,
          Read};
}

}  // namespace mpa::readers
