// SPDX-License-Identifier: Apache-2.0
// How long each owner had a call, and how long the device was idle meanwhile.
#include "segments.h"

#include <algorithm>

namespace mpa::head {
namespace {

bool IsLookup(HostEvent event) { return event == HostEvent::kLookup; }
bool IsDynamoCompile(HostEvent event) { return event == HostEvent::kDynamoCompile; }
bool LoadsGraph(HostEvent event) {
  return event == HostEvent::kLoadGraph || event == HostEvent::kCapture;
}
bool IsBlocking(HostEvent event) { return event == HostEvent::kBlocking; }

// Of the platform's time: waiting for the device.
Intervals WaitsOf(const RuntimeCalls& runtime, const MarkedEvents& events, const Call& call) {
  const Interval span = *SpanOf(call, Segment::kPlatform);
  std::vector<Interval> waits = events.Within(call.track, span.begin, span.end, IsBlocking);
  for (const std::size_t row : runtime.Starting(call.track, span.begin, span.end)) {
    const RuntimeCall meaning = runtime.Meaning(row);
    if (meaning == RuntimeCall::kSync || meaning == RuntimeCall::kMemcpy) {
      waits.push_back({runtime.Start(row), std::min(runtime.End(row), span.end)});
    }
  }
  return Union(std::move(waits));
}

Intervals InDynamo(const MarkedEvents& events, const Call& call, bool (*wanted)(HostEvent)) {
  const Interval span = *SpanOf(call, Segment::kDynamo);
  return events.Within(call.track, span.begin, span.end, wanted);
}

// Without what compiles.
Intervals LookupsOf(const MarkedEvents& events, const Call& call) {
  return Difference(InDynamo(events, call, IsLookup), InDynamo(events, call, IsDynamoCompile));
}

// Whatever the policy leaves of the time before the entry.
Intervals CompilationsOf(const MarkedEvents& events, const Call& call) {
  return events.Within(call.track, std::min(call.w0, call.e0), call.t4, IsCompileEvent);
}

void MeasureDynamo(const MarkedEvents& events, Call& call) {
  const auto span = SpanOf(call, Segment::kDynamo);
  if (!span) return;
  call.dynamo_compile = Length(InDynamo(events, call, IsDynamoCompile));
  call.lookup = Length(LookupsOf(events, call));
  call.region_other = span->end - span->begin - *call.dynamo_compile - *call.lookup;
}

void MeasureGe(const HostForest& forest, const FoundCall& found, const Boundaries& bounds,
               Call& call) {
  if (!call.t3) return;
  const auto since = [&](TimeNs begin, TimeNs end) {
    return std::max<TimeNs>(end - std::max(begin, call.w0), 0);
  };
  if (bounds.executed) call.ge_exec = since(*call.t3, *bounds.executed);
  if (found.run == HostNode::kNone) return;
  const TimeNs run_end = forest.At(found.run).end;
  if (bounds.executed) call.epilogue_cpp = since(*bounds.executed, run_end);
  if (call.kind == CallKind::kA1 || call.kind == CallKind::kA2) {
    call.epilogue_py = since(run_end, call.t4);
  }
}

}  // namespace

std::optional<Interval> SpanOf(const Call& call, Segment segment) {
  if (!call.Of(segment)) return std::nullopt;
  const auto from_window = [&](TimeNs begin, TimeNs end) {
    return Interval{std::max(begin, call.w0), std::max(end, call.w0)};
  };
  switch (segment) {
    case Segment::kPlatform:
      return from_window(call.w0, call.e0);
    case Segment::kDynamo:
      return from_window(call.e0, call.t1);
    case Segment::kTorchairPy:
      return from_window(call.t1, call.t2.value_or(call.t3.value_or(call.t4)));
    case Segment::kTorchairCpp:
      return from_window(*call.t2, call.t3.value_or(call.t4));
    case Segment::kGe:
      return from_window(*call.t3, call.t4);
  }
  return std::nullopt;
}

MarkedEvents::MarkedEvents(const HostForest& forest) : forest_(forest) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(forest.Nodes().size()); ++i) {
    const HostEvent event = forest.At(i).event;
    if (IsLookup(event) || IsBlocking(event) || IsCompileEvent(event)) nodes_.push_back(i);
  }
}

Intervals MarkedEvents::Within(std::int32_t track, TimeNs from, TimeNs to,
                               bool (*wanted)(HostEvent)) const {
  std::vector<Interval> spans;
  const std::int64_t first = forest_.FirstFrom(track, from);
  for (auto at = std::lower_bound(nodes_.begin(), nodes_.end(), first);
       at != nodes_.end() && *at < forest_.EndOf(track); ++at) {
    const HostNode& node = forest_.At(*at);
    if (node.start > to) break;
    if (wanted(node.event)) spans.push_back({node.start, std::min(node.end, to)});
  }
  return Union(std::move(spans));
}

void MeasureSegments(const HostForest& forest, const RuntimeCalls& runtime,
                     const MarkedEvents& marked, const FoundCall& found, const Boundaries& bounds,
                     Call& call) {
  // A segment is there when its begin is known; SpanOf() gives its length.
  call.segments[Index(Segment::kPlatform)] = 0;
  call.segments[Index(Segment::kDynamo)] = 0;
  const TimeNs py_end = call.t2.value_or(call.t3.value_or(call.t4));
  const bool no_py = call.Has(Flag::kNoPyAnchor) && py_end == call.t1;
  if (!no_py) call.segments[Index(Segment::kTorchairPy)] = 0;
  if (call.t2) call.segments[Index(Segment::kTorchairCpp)] = 0;
  if (call.t3) call.segments[Index(Segment::kGe)] = 0;
  for (const Segment segment : kAllSegments) {
    if (const auto span = SpanOf(call, segment)) {
      call.segments[Index(segment)] = span->end - span->begin;
    }
  }
  call.platform_wait = Length(WaitsOf(runtime, marked, call));
  MeasureDynamo(marked, call);
  MeasureGe(forest, found, bounds, call);
  const Intervals compiling = CompilationsOf(marked, call);
  call.phase = compiling.empty() ? Phase::kSteady : Phase::kCompile;
  call.loads_graph = !marked.Within(call.track, call.t1, call.t4, LoadsGraph).empty();
  call.compile = Length(Intersection(compiling, {{call.w0, call.t4}}));
}

void MeasureExposure(const DeviceTimeline& device, const RuntimeCalls& runtime,
                     const MarkedEvents& marked, Call& call) {
  if (!call.first_kernel) return;
  const TimeNs kernel = *call.first_kernel;
  call.idle = device.Idle(call.w0, kernel);
  for (const Segment segment : kAllSegments) {
    if (const auto span = SpanOf(call, segment)) {
      call.exposed[Index(segment)] = device.Idle(span->begin, std::min(span->end, kernel));
    }
  }
  call.exposed_lag = device.Idle(std::max(call.t4, call.w0), kernel);
  call.exposed_wait = device.Idle(WaitsOf(runtime, marked, call), kernel);
  if (call.lookup) call.exposed_lookup = device.Idle(LookupsOf(marked, call), kernel);
  if (call.ge_exec) {
    const TimeNs begin = std::max(*call.t3, call.w0);
    call.exposed_ge_exec = device.Idle(begin, std::min(begin + *call.ge_exec, kernel));
  }
  call.exposed_compile =
      device.Idle(Intersection(CompilationsOf(marked, call), {{call.w0, call.t4}}), kernel);
  if (call.t3 && kernel > *call.t3) {
    const TimeNs late = kernel - *call.t3;
    if (late - device.Idle(*call.t3, kernel) > late / 2) call.Set(Flag::kDeviceBound);
  }
}

}  // namespace mpa::head
