// SPDX-License-Identifier: Apache-2.0
// The points in time at which a compiled call passes from one owner to the next.
#include "segments.h"

#include <algorithm>

namespace mpa::head {
namespace {

constexpr std::int64_t kNone = HostNode::kNone;

class Finder {
 public:
  Finder(const HostForest& forest, const RuntimeCalls& runtime, const FoundCall& call,
         MaybeNs begin, const std::vector<bool>& is_call)
      : forest_(forest),
        runtime_(runtime),
        call_(call),
        node_(forest.At(call.node)),
        begin_(begin),
        is_call_(is_call) {}

  Boundaries Find(bool runs_eagerly) {
    found_.t4 = node_.end;
    FindRegions();
    FindTorchAir();
    FindEntry();
    if (!runs_eagerly) FindGraph();
    return found_;
  }

 private:
  bool Within(TimeNs time) const { return !begin_ || time >= *begin_; }
  void Set(Flag flag) { found_.flags |= static_cast<std::uint16_t>(flag); }

  // The compiled regions around the call, and cache_compile's event if it is only an entry.
  void FindRegions() {
    for (std::int64_t at = node_.parent; at != kNone; at = forest_.At(at).parent) {
      const HostNode& node = forest_.At(at);
      if (node.event == HostEvent::kRegion && found_.region == kNone) found_.region = at;
      if (!Within(node.start)) continue;  // the name of the region counts nevertheless
      if (node.event == HostEvent::kRegion) {
        outermost_region_ = at;
        if (innermost_region_ == kNone) innermost_region_ = at;
      }
      if (node.event == HostEvent::kCachedCall) cached_entry_ = node.start;
    }
    if (call_.kind != CallKind::kA2) return;
    cached_entry_ = node_.start;
    for (std::int64_t at = call_.run; at != kNone && at != call_.node; at = forest_.At(at).parent) {
      if (forest_.At(at).event != HostEvent::kRegion) continue;
      innermost_region_ = found_.region = at;
      break;
    }
  }

  void FindTorchAir() {
    switch (call_.kind) {
      case CallKind::kA1:
        found_.t1 = node_.start;
        return;
      case CallKind::kA2:
        found_.t1 = innermost_region_ != kNone ? forest_.At(innermost_region_).start : node_.start;
        break;
      default:
        found_.t1 = innermost_region_ != kNone ? forest_.At(innermost_region_).start : node_.start;
        Set(innermost_region_ != kNone ? Flag::kT1FromRegion : Flag::kNoPyAnchor);
    }
    if (innermost_region_ == kNone || call_.run == kNone) return;
    // What the compiled code does before its graph is PyTorch's.
    for (std::int64_t at = innermost_region_ + 1; at < call_.run; ++at) {
      const HostNode& node = forest_.At(at);
      if (node.event == HostEvent::kPrologue && node.end <= forest_.At(call_.run).start) {
        found_.t1 = std::max(found_.t1, node.end);
      }
    }
  }

  void FindEntry() {
    MaybeNs entry;
    std::int64_t entered = call_.node;
    if (outermost_region_ != kNone) {
      entered = outermost_region_;
      entry = forest_.At(entered).start;
    } else {
      for (std::int64_t at = node_.parent; at != kNone; at = forest_.At(at).parent) {
        const HostNode& node = forest_.At(at);
        if (node.event != HostEvent::kCompiledFunction || !Within(node.start)) break;
        entered = at;
      }
    }
    bool unrelated = false;
    bool compiled = false;  // events before a compilation lie between it and its lookup
    for (std::int64_t at = forest_.At(entered).previous; at != kNone;
         at = forest_.At(at).previous) {
      const HostNode& node = forest_.At(at);
      if (!Within(node.start) || node.event == HostEvent::kRegion ||
          is_call_[static_cast<std::size_t>(at)]) {
        break;
      }
      if (node.event == HostEvent::kDynamoCompile) {
        entry = node.start;
        compiled = true;
      } else if (node.event == HostEvent::kLookup) {
        if (!unrelated) entry = node.start;
        break;
      } else if (!compiled) {
        unrelated = true;
      }
    }
    if (cached_entry_) entry = std::min(entry.value_or(*cached_entry_), *cached_entry_);
    found_.e0 = std::min(entry.value_or(found_.t1), found_.t1);
    if (!entry) Set(Flag::kNoEntry);
  }

  void FindGraph() {
    if (call_.run == kNone && call_.execution == kNone) {
      FindReplay();
      return;
    }
    const MaybeNs run_start =
        call_.run != kNone ? MaybeNs(forest_.At(call_.run).start) : std::nullopt;
    found_.t2 = run_start;
    if (!run_start && call_.assemble_inputs != kNone) {
      found_.t2 = forest_.At(call_.assemble_inputs).start;
    }
    if (call_.run == kNone && call_.kind != CallKind::kA4) Set(Flag::kNoRun);
    if (call_.execution != kNone) {
      found_.t3 = forest_.At(call_.execution).start;
      found_.executed = forest_.At(call_.execution).end;
      return;
    }
    FindExecution();
  }

  // No event of the execution: the runtime tells when it began, or else the end of what comes
  // before it.
  void FindExecution() {
    for (const std::size_t row : runtime_.Starting(node_.track, *found_.t2, found_.t4)) {
      const RuntimeCall meaning = runtime_.Meaning(row);
      if (meaning != RuntimeCall::kInputCopy && meaning != RuntimeCall::kStepInfo &&
          meaning != RuntimeCall::kModelExecute) {
        continue;
      }
      if (!found_.t3) found_.t3 = runtime_.Start(row);
      const TimeNs end = std::min(runtime_.End(row), found_.t4);
      found_.executed = std::max(found_.executed.value_or(end), end);
    }
    if (found_.t3) {
      Set(Flag::kT3FromCann);
    } else if (call_.assembled) {
      found_.t3 = call_.assembled;
      Set(Flag::kT3FromAssemble);
    }
  }

  void FindReplay() {
    if (call_.replay != kNone) found_.t2 = forest_.At(call_.replay).start;
    const TimeNs from = found_.t2.value_or(node_.start);
    for (const std::size_t row : runtime_.Starting(node_.track, from, found_.t4)) {
      if (runtime_.Meaning(row) != RuntimeCall::kReplay) continue;
      found_.t3 = runtime_.Start(row);
      break;
    }
  }

  const HostForest& forest_;
  const RuntimeCalls& runtime_;
  const FoundCall& call_;
  const HostNode& node_;
  const MaybeNs begin_;
  const std::vector<bool>& is_call_;
  std::int64_t innermost_region_ = kNone, outermost_region_ = kNone;
  MaybeNs cached_entry_;
  Boundaries found_;
};

}  // namespace

Boundaries FindBoundaries(const HostForest& forest, const RuntimeCalls& runtime,
                          const FoundCall& call, MaybeNs begin, const std::vector<bool>& is_call,
                          bool runs_eagerly) {
  return Finder(forest, runtime, call, begin, is_call).Find(runs_eagerly);
}

// How long each owner had a call, and how long the device was idle meanwhile.

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
