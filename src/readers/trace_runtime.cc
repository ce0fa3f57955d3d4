// SPDX-License-Identifier: Apache-2.0
// What the runtime below the framework recorded in a trace: its calls, the work of the devices, the
// iterations of compiled models.
#include "trace_runtime.h"

#include <algorithm>
#include <string>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/io/numbers.h"
#include "trace_events.h"

namespace mpa::readers {
namespace {

constexpr std::int64_t kNoModel = 4294967295;          // what exporters write for "none"
constexpr std::int64_t kFirstIterationThread = 70000;  // the thread of model 0

std::int64_t NumberOr(std::string_view text, std::int64_t fallback) {
  return io::ParseInt(text).value_or(fallback);
}

// "Notify Wait" and "NOTIFY_WAIT" are one.
std::string Normalized(std::string_view name) {
  std::string text = ToLower(name);
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

// The places of one kind of flow ends with the ids of the flows, in order.
std::vector<std::pair<EventPlace, std::int64_t>> FlowEnds(const std::vector<FlowPoint>& flows,
                                                          bool is_end) {
  std::vector<std::pair<EventPlace, std::int64_t>> ends;
  for (const FlowPoint& flow : flows) {
    if (flow.is_end == is_end) ends.push_back({{flow.pid, flow.tid, flow.time}, flow.id});
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

std::int64_t FlowAt(const std::vector<std::pair<EventPlace, std::int64_t>>& ends,
                    const EventPlace& place) {
  const auto found = std::lower_bound(ends.begin(), ends.end(), std::pair{place, std::int64_t{0}});
  return found != ends.end() && found->first == place ? found->second : -1;
}

}  // namespace

bool IsNoRun(std::string_view name_or_type) {
  const std::string text = Normalized(name_or_type);
  return text.ends_with("_sqe") ||
         IsOneOf(text,
                 {"notify_wait", "notify_record", "event_wait", "event_record", "place_holder",
                  "profiling_enable", "profiling_disable", "write_value", "memcpy_async", "sdma"});
}

RuntimeProcess RuntimeProcessOf(std::string_view process_name) {
  if (process_name == "CANN") return RuntimeProcess::kHostCalls;
  if (process_name == "Ascend Hardware") return RuntimeProcess::kDevice;
  if (process_name.starts_with("Step Trace")) return RuntimeProcess::kIterations;
  return RuntimeProcess::kNone;
}

void AddRuntimeEvent(RuntimeProcess process, const EventPlace& place, TimeNs dur, StringId name,
                     std::string_view args, StringPool& strings,
                     std::vector<RuntimeEvent>& events) {
  RuntimeEvent event{.process = process, .place = place, .dur = dur, .name = name};
  const std::string_view text = strings.View(name);
  if (process == RuntimeProcess::kIterations) {
    constexpr std::string_view kName = "Iteration ";
    if (!text.starts_with(kName)) return;
    event.request = NumberOr(text.substr(kName.size()), -1);
    event.model = place.tid - kFirstIterationThread;
    if (event.request >= 0 && event.model >= 0) events.push_back(event);
    return;
  }
  bool is_run = process == RuntimeProcess::kHostCalls || !IsNoRun(text);
  const bool runs_model = text == "Model@ModelExecute";
  ForEachMember(args, [&](std::string_view key, std::string_view value) {
    const std::string normalized = Normalized(key);
    if (normalized == "connection_id") {
      event.connection = NumberOr(value, -1);
    } else if (process == RuntimeProcess::kDevice) {
      if (normalized == "model_id") event.model = NumberOr(value, -1);
      if (normalized == "task_type" && IsNoRun(value)) is_run = false;
    } else if (normalized == "item_id") {
      if (runs_model) {
        event.model = NumberOr(value, -1);
      } else {
        event.item = strings.Intern(value);
      }
    } else if (normalized == "request_id" && runs_model) {
      event.request = NumberOr(value, -1);
    }
  });
  if (event.model == kNoModel) event.model = -1;
  if (is_run) events.push_back(event);
}

void RuntimeTrace::Add(const std::vector<RuntimeEvent>& events, const std::vector<FlowPoint>& flows,
                       StringMapping& texts) {
  for (RuntimeEvent event : events) {
    event.name = texts[event.name];
    event.item = texts[event.item];
    switch (event.process) {
      case RuntimeProcess::kHostCalls:
        calls_.push_back(event);
        break;
      case RuntimeProcess::kDevice:
        runs_.push_back({event, DeviceRunKind::kKernel});
        break;
      case RuntimeProcess::kIterations:
        trace_.model_iterations.Append({.start = event.place.start,
                                        .dur = event.dur,
                                        .model = event.model,
                                        .iteration = event.request});
        break;
      case RuntimeProcess::kNone:
        break;
    }
  }
  flows_.insert(flows_.end(), flows.begin(), flows.end());
}

void RuntimeTrace::AddCollective(const EventPlace& place, TimeNs dur, StringId name,
                                 std::string_view args) {
  RuntimeEvent event{.process = RuntimeProcess::kDevice, .place = place, .dur = dur, .name = name};
  event.connection = NumberOr(MemberText(args, "connection_id"), -1);
  runs_.push_back({event, DeviceRunKind::kCollective});
}

void RuntimeTrace::Finish(TrackNumbers& tracks) {
  const HostThreads threads(trace_);
  const auto launches = FlowEnds(flows_, /*is_end=*/false);
  for (const RuntimeEvent& call : calls_) {
    std::int32_t track = threads.Find(call.place.pid, call.place.tid);
    if (track < 0) {
      const std::int64_t owner = threads.OwnerOf(call.place.pid);
      track = tracks.Of(owner >= 0 ? owner : call.place.pid, call.place.tid);
    }
    trace_.host_calls.Append(
        {.start = call.place.start,
         .dur = call.dur,
         .name = call.name,
         .track = track,
         .item = call.item,
         .model = call.model,
         .request = call.request,
         .connection = call.connection >= 0 ? call.connection : FlowAt(launches, call.place)});
  }
  const auto arrivals = FlowEnds(flows_, /*is_end=*/true);
  for (const Run& run : runs_) {
    const RuntimeEvent& event = run.event;
    const std::int64_t owner = threads.OwnerOf(event.place.pid);
    constexpr std::int64_t kDeviceBits = 31;  // the lowest bits of the viewer's process ids
    trace_.device_runs.Append(
        {.start = event.place.start,
         .dur = event.dur,
         .name = event.name,
         .kind = run.kind,
         .connection = event.connection >= 0 ? event.connection : FlowAt(arrivals, event.place),
         .model = event.model,
         .pid = owner,
         .device = threads.IsDerived(event.place.pid) ? event.place.pid & kDeviceBits : -1});
  }
}

}  // namespace mpa::readers
