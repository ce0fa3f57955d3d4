// SPDX-License-Identifier: Apache-2.0
// The runtime's records in a trace: calls, device work, the iterations of compiled models; and
// calls into the operating system.
#include "trace_runtime.h"

#include <algorithm>
#include <string>

#include "mpa/base/text.h"
#include "mpa/io/numbers.h"

namespace mpa::readers {
namespace {

constexpr std::int64_t kNoModel = 4294967295;          // what exporters write for "none"
constexpr std::int64_t kFirstIterationThread = 70000;  // the thread of model 0

std::int64_t NumberOr(std::string_view text, std::int64_t fallback) {
  return io::ParseInt(text).value_or(fallback);
}

// "Notify Wait" and "NOTIFY_WAIT" are the same type.
std::string Normalized(std::string_view name) {
  std::string text = ToLower(name);
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

bool IsKey(std::string_view key, std::string_view normalized) {
  return key.size() == normalized.size() && Normalized(key) == normalized;
}

// The places of one kind of flow ends with the ids of the flows, in order.
std::vector<std::pair<EventPlace, std::int64_t>> FlowEnds(const std::vector<FlowPoint>& flows,
                                                          bool is_end) {
  std::vector<std::pair<EventPlace, std::int64_t>> ends;
  for (const FlowPoint& flow : flows) {
    if (flow.is_end == is_end) ends.push_back({{flow.pid, flow.tid, flow.time}, flow.id});
  }
  std::ranges::sort(ends);
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
  if (text == "dsa_sqe") return false;  // random numbers are made there
  return text.ends_with("_sqe") ||
         IsOneOf(text, {"notify_wait", "notify_record", "event_wait", "event_record",
                        "place_holder", "profiling_enable", "profiling_disable", "write_value",
                        "memcpy_async", "sdma", "reduce_async_v2"});
}

RuntimeProcess RuntimeProcessOf(std::string_view process_name) {
  if (process_name == "CANN") return RuntimeProcess::kHostCalls;
  if (process_name == "Ascend Hardware") return RuntimeProcess::kDevice;
  if (process_name.starts_with("Step Trace")) return RuntimeProcess::kIterations;
  if (process_name == "OS Runtime API") return RuntimeProcess::kSystemCalls;
  return RuntimeProcess::kNone;
}

RuntimeArgs ReadRuntimeArgs(const TraceEvent& event, bool with_runs, EscapedTexts& texts) {
  const bool runs_model = event.name == "Model@ModelExecute";
  RuntimeArgs found;
  bool has_type = false;
  for (const EventArg& arg : event.args) {
    if (IsKey(arg.key, "connection_id")) found.connection = NumberOr(arg.value, -1);
    if (with_runs && IsKey(arg.key, "model_id")) found.model = NumberOr(arg.value, -1);
    if (with_runs && IsKey(arg.key, "task_type")) {
      has_type = true;
      found.waits |= IsNoRun(arg.value);
    }
    if (IsKey(arg.key, "request_id") && runs_model) found.request = NumberOr(arg.value, -1);
    if (IsKey(arg.key, "item_id")) {
      if (runs_model) {
        found.ran_model = NumberOr(arg.value, -1);
      } else {
        found.item = texts.Intern(arg);
      }
    }
  }
  // The time of a mark of the program on a stream: no launch and no type.
  if (with_runs && !has_type && found.connection < 0) found.waits = true;
  return found;
}

void RuntimeTrace::Add(RuntimeProcess process, const EventPlace& place, TimeNs dur, StringId name,
                       const RuntimeArgs& args) {
  const std::string_view text = trace_.strings.View(name);
  const auto known = [](std::int64_t model) { return model == kNoModel ? -1 : model; };
  if (process == RuntimeProcess::kIterations) {
    constexpr std::string_view kName = "Iteration ";
    if (!text.starts_with(kName)) return;
    const std::int64_t iteration = NumberOr(text.substr(kName.size()), -1);
    if (iteration < 0 || place.tid < kFirstIterationThread) return;
    trace_.model_iterations.Append({.start = place.start,
                                    .dur = dur,
                                    .model = place.tid - kFirstIterationThread,
                                    .iteration = iteration});
  } else if (process == RuntimeProcess::kSystemCalls) {
    system_calls_.push_back(
        {place, {.start = place.start, .dur = dur, .thread = place.tid, .name = name}});
  } else if (process == RuntimeProcess::kHostCalls) {
    calls_.push_back({place,
                      {.start = place.start,
                       .dur = dur,
                       .name = name,
                       .item = args.item,
                       .model = known(args.ran_model),
                       .request = args.request,
                       .connection = args.connection}});
  } else if (process == RuntimeProcess::kDevice && with_runs_ && !args.waits && !IsNoRun(text)) {
    AddRun(place, {.start = place.start,
                   .dur = dur,
                   .name = name,
                   .connection = args.connection,
                   .model = known(args.model),
                   .stream = place.tid});
  }
}

void RuntimeTrace::Finish(const std::vector<FlowPoint>& flows, TrackNumbers& tracks) {
  const HostThreads threads(trace_);
  const auto launches = FlowEnds(flows, /*is_end=*/false);
  for (auto& [place, call] : calls_) {
    call.track = threads.Find(place.pid, place.tid);
    if (call.track < 0) {
      const std::int64_t owner = threads.OwnerOf(place.pid);
      call.track = tracks.Of(owner >= 0 ? owner : place.pid, place.tid);
    }
    if (call.connection < 0) call.connection = FlowAt(launches, place);
    trace_.host_calls.Append(call);
  }
  for (auto& [place, call] : system_calls_) {
    call.process = threads.OwnerOf(place.pid);
    trace_.system_calls.Append(call);
  }
  const auto arrivals = FlowEnds(flows, /*is_end=*/true);
  for (auto& [place, run] : runs_) {
    if (run.connection < 0) run.connection = FlowAt(arrivals, place);
    run.pid = threads.OwnerOf(place.pid);
    if (threads.IsDerived(place.pid)) run.device = DeviceOf(place.pid);
    trace_.device_runs.Append(run);
  }
}

void AppendCallStamps(const std::vector<FlowPoint>& flows, RankTrace& trace) {
  if (!trace.host_calls.Empty()) return;
  const HostThreads threads(trace);
  for (const FlowPoint& flow : flows) {
    if (flow.is_end) continue;
    const std::int32_t track = threads.Find(flow.pid, flow.tid);
    // Flows to collectives hold the connection above the 32 bits for a task, of which there is
    // none.
    constexpr std::int64_t kNoTask = 0xFFFFFFFF;
    const bool to_collective = flow.id > kNoTask && (flow.id & kNoTask) == kNoTask;
    trace.call_stamps.Append(
        {.time = flow.time, .track = track, .connection = to_collective ? flow.id >> 32 : flow.id});
  }
}

}  // namespace mpa::readers
