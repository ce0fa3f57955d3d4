// SPDX-License-Identifier: Apache-2.0
// The points in time at which a compiled call passes from one owner to the next.
#include <algorithm>

#include "analyse.h"

namespace mpa::head {
namespace {

constexpr std::int64_t kNone = HostNode::kNone;

class BoundaryFinder {
 public:
  BoundaryFinder(const HeadAnalysis& analysis, MaybeNs begin, const std::vector<bool>& is_call,
                 CallParts& parts, Call& call)
      : forest_(analysis.forest),
        runtime_(analysis.runtime),
        node_(forest_.At(parts.node)),
        begin_(begin),
        is_call_(is_call),
        parts_(parts),
        call_(call) {}

  void Find(bool runs_eagerly) {
    call_.end = node_.end;
    FindRegions();
    FindTorchAir();
    FindEntry();
    if (!runs_eagerly) FindGraph();
  }

 private:
  bool Within(TimeNs time) const { return !begin_ || time >= *begin_; }

  // The compiled regions around the call, and cache_compile's event if it is only an entry.
  void FindRegions() {
    for (std::int64_t at = node_.parent; at != kNone; at = forest_.At(at).parent) {
      const HostNode& node = forest_.At(at);
      if (node.event == HostEvent::kRegion && parts_.region == kNone) parts_.region = at;
      if (!Within(node.start)) continue;  // the name of the region counts nevertheless
      if (node.event == HostEvent::kRegion) {
        outermost_region_ = at;
        if (innermost_region_ == kNone) innermost_region_ = at;
      }
      if (node.event == HostEvent::kCachedCall) cached_entry_ = node.start;
    }
    if (call_.kind != CallKind::kCachedInference) return;
    cached_entry_ = node_.start;
    for (std::int64_t at = parts_.run; at != kNone && at != parts_.node;
         at = forest_.At(at).parent) {
      if (forest_.At(at).event != HostEvent::kRegion) continue;
      innermost_region_ = parts_.region = at;
      break;
    }
  }

  void FindTorchAir() {
    switch (call_.kind) {
      case CallKind::kCompilerInference:
        call_.python_begin = node_.start;
        return;
      case CallKind::kCachedInference:
        call_.python_begin =
            innermost_region_ != kNone ? forest_.At(innermost_region_).start : node_.start;
        break;
      default:
        call_.python_begin =
            innermost_region_ != kNone ? forest_.At(innermost_region_).start : node_.start;
        call_.Set(innermost_region_ != kNone ? Flag::kPythonFromRegion : Flag::kNoPyAnchor);
    }
    if (innermost_region_ == kNone || parts_.run == kNone) return;
    // What the compiled code does before its graph is PyTorch's.
    for (std::int64_t at = innermost_region_ + 1; at < parts_.run; ++at) {
      const HostNode& node = forest_.At(at);
      if (node.event == HostEvent::kPrologue && node.end <= forest_.At(parts_.run).start) {
        call_.python_begin = std::max(call_.python_begin, node.end);
      }
    }
  }

  void FindEntry() {
    MaybeNs entry;
    std::int64_t entered = parts_.node;
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
    call_.entered = std::min(entry.value_or(call_.python_begin), call_.python_begin);
    if (!entry) call_.Set(Flag::kNoEntry);
  }

  void FindGraph() {
    if (parts_.run == kNone && parts_.execution == kNone) {
      FindReplay();
      return;
    }
    const MaybeNs run_start =
        parts_.run != kNone ? MaybeNs(forest_.At(parts_.run).start) : std::nullopt;
    call_.cpp_begin = run_start;
    if (!run_start && parts_.assemble_inputs != kNone) {
      call_.cpp_begin = forest_.At(parts_.assemble_inputs).start;
    }
    if (parts_.run == kNone && call_.kind != CallKind::kGraphExecution) call_.Set(Flag::kNoRun);
    if (parts_.execution != kNone) {
      call_.ge_begin = forest_.At(parts_.execution).start;
      parts_.executed = forest_.At(parts_.execution).end;
      return;
    }
    FindExecution();
  }

  // No event of the execution: the runtime tells when it began, or else the end of what comes
  // before it.
  void FindExecution() {
    for (const std::size_t row : runtime_.Starting(node_.track, {*call_.cpp_begin, call_.end})) {
      const RuntimeCall meaning = runtime_.Meaning(row);
      if (meaning != RuntimeCall::kInputCopy && meaning != RuntimeCall::kStepInfo &&
          meaning != RuntimeCall::kModelExecute) {
        continue;
      }
      if (!call_.ge_begin) call_.ge_begin = runtime_.Start(row);
      const TimeNs end = std::min(runtime_.End(row), call_.end);
      parts_.executed = std::max(parts_.executed.value_or(end), end);
    }
    if (call_.ge_begin) {
      call_.Set(Flag::kGeFromCann);
    } else if (parts_.assembled) {
      call_.ge_begin = parts_.assembled;
      call_.Set(Flag::kGeFromAssemble);
    }
  }

  void FindReplay() {
    if (parts_.replay != kNone) call_.cpp_begin = forest_.At(parts_.replay).start;
    const TimeNs from = call_.cpp_begin.value_or(node_.start);
    for (const std::size_t row : runtime_.Starting(node_.track, {from, call_.end})) {
      if (runtime_.Meaning(row) != RuntimeCall::kReplay) continue;
      call_.ge_begin = runtime_.Start(row);
      break;
    }
  }

  const HostForest& forest_;
  const RuntimeCalls& runtime_;
  const HostNode& node_;
  const MaybeNs begin_;
  const std::vector<bool>& is_call_;
  CallParts& parts_;
  Call& call_;
  std::int64_t innermost_region_ = kNone, outermost_region_ = kNone;
  MaybeNs cached_entry_;
};

}  // namespace

void FindBoundaries(const HeadAnalysis& analysis, MaybeNs begin, const std::vector<bool>& is_call,
                    bool runs_eagerly, CallParts& parts, Call& call) {
  BoundaryFinder(analysis, begin, is_call, parts, call).Find(runs_eagerly);
}

// How long each owner had a call, and how long the device was idle meanwhile.

namespace {

bool IsLookup(HostEvent event) { return event == HostEvent::kLookup; }
bool IsDynamoCompile(HostEvent event) { return event == HostEvent::kDynamoCompile; }
bool LoadsGraph(HostEvent event) {
  return event == HostEvent::kLoadGraph || event == HostEvent::kCapture;
}
bool IsBlocking(HostEvent event) { return event == HostEvent::kBlocking; }

class CallTimes {
 public:
  CallTimes(const HeadAnalysis& analysis, const CallParts& parts, Call& call)
      : a_(analysis),
        forest_(analysis.forest),
        runtime_(analysis.runtime),
        device_(analysis.devices.Of(call.pid)),
        parts_(parts),
        call_(call) {}

  void MeasureHead() {
    for (const Measure part : call_.Parts()) {
      if (const auto spans = SpansOf(a_, call_, part)) Set(part, *spans);
    }
    const Intervals waits = Waits();
    Set(Measure::kPlatformWait, Intersection(waits, *SpansOf(a_, call_, Measure::kPlatform)));
    if (const auto serving = SpansOf(a_, call_, Measure::kServing))
      Set(Measure::kServingWait, Intersection(waits, *serving));
    MeasureDynamo();
    if (call_.ge_begin) MeasureGe();
    // The part of the time before the entry that the policy keeps.
    const Intervals compiling =
        Within({std::min(call_.frontend_begin, call_.entered), call_.end}, IsCompileEvent);
    call_.phase = compiling.empty() ? Phase::kSteady : Phase::kCompile;
    call_.loads_graph = !Within({call_.python_begin, call_.end}, LoadsGraph).empty();
    Set(Measure::kCompile, Intersection(compiling, {{call_.frontend_begin, call_.end}}));
    MeasureSums();
  }

  void MeasureLatencies() {
    Of(Measure::kFirstTaskLatency).total = Since(call_.first_task, call_.ge_begin);
    Of(Measure::kFirstKernelLatency).total = Since(call_.first_kernel, call_.ge_begin);
    if (!call_.KnowsHead() || !call_.first_kernel) return;
    const TimeNs kernel = *call_.first_kernel;
    Of(Measure::kHeadToFirstKernel).total = kernel - call_.frontend_begin;
    Of(Measure::kHead).idle = device_->Idle({{call_.frontend_begin, kernel}}, kernel);
    Of(Measure::kLag).idle = device_->Idle({{call_.end, kernel}}, kernel);
    if (kernel > call_.end) Of(Measure::kLag).total = kernel - call_.end;
    if (!call_.ge_begin || kernel <= *call_.ge_begin) return;
    const TimeNs late = kernel - *call_.ge_begin;
    const TimeNs idle = device_->Idle({{*call_.ge_begin, kernel}}, kernel);
    if (late - idle > late / 2) call_.Set(Flag::kDeviceBound);
  }

 private:
  Call::Time& Of(Measure measure) { return call_.times[Index(measure)]; }
  void Set(Measure measure, const Intervals& spans) {
    Of(measure).total = Length(spans);
    if (call_.first_kernel) Of(measure).idle = device_->Idle(spans, *call_.first_kernel);
  }
  Intervals Within(const Interval& window, bool (*wanted)(HostEvent)) const {
    return forest_.Within(call_.track, window, wanted);
  }

  // Of the time before the model is entered: waiting for the device.
  Intervals Waits() const {
    const Interval span = *SpanOf(call_, Measure::kPlatform);
    std::vector<Interval> waits = Within(span, IsBlocking);
    for (const std::size_t row : runtime_.Starting(call_.track, span)) {
      if (!IsWait(runtime_.Meaning(row))) continue;
      waits.push_back({runtime_.Start(row), std::min(runtime_.End(row), span.end)});
    }
    return Union(std::move(waits));
  }

  // Lookups do not count what compiles within them.
  void MeasureDynamo() {
    const Interval span = *SpanOf(call_, Measure::kDynamo);
    const Intervals compiling = Within(span, IsDynamoCompile);
    const Intervals lookups = Difference(Within(span, IsLookup), compiling);
    Of(Measure::kDynamoCompile).total = Length(compiling);
    Set(Measure::kLookup, lookups);
    Of(Measure::kRegionOther).total = span.end - span.begin - Length(compiling) - Length(lookups);
  }

  void MeasureGe() {
    const auto since = [&](TimeNs begin, TimeNs end) {
      const TimeNs from = std::max(begin, call_.frontend_begin);
      return Interval{from, std::max(from, end)};
    };
    const auto length = [](const Interval& span) { return span.end - span.begin; };
    if (parts_.executed) Set(Measure::kGeExec, {since(*call_.ge_begin, *parts_.executed)});
    if (parts_.run == HostNode::kNone) return;
    const TimeNs run_end = forest_.At(parts_.run).end;
    MaybeNs& cpp = Of(Measure::kEpilogueCpp).total;
    MaybeNs& python = Of(Measure::kEpiloguePy).total;
    if (parts_.executed) cpp = length(since(*parts_.executed, run_end));
    if (call_.kind == CallKind::kCompilerInference || call_.kind == CallKind::kCachedInference) {
      python = length(since(run_end, call_.end));
    }
    Of(Measure::kEpilogue).total = cpp.value_or(0) + python.value_or(0);
  }

  void MeasureSums() {
    const auto plus = [](MaybeNs a, MaybeNs b) { return a && b ? MaybeNs(*a + *b) : std::nullopt; };
    const Call::Time &platform = Of(Measure::kPlatform), &dynamo = Of(Measure::kDynamo);
    Call::Time& frontend = Of(Measure::kFrontend);
    frontend = {plus(platform.total, dynamo.total), plus(platform.idle, dynamo.idle)};
    if (const Call::Time& serving = Of(Measure::kServing); serving.total)
      frontend = {plus(frontend.total, serving.total), plus(frontend.idle, serving.idle)};
    Of(Measure::kHead).total = call_.Head();
    Of(Measure::kHeadNet).total = call_.Head() - *call_.Of(Measure::kCompile);
  }

  const HeadAnalysis& a_;
  const HostForest& forest_;
  const RuntimeCalls& runtime_;
  const DeviceTimeline* device_;  // not null where there is a first kernel
  const CallParts& parts_;
  Call& call_;
};

}  // namespace

std::optional<Interval> SpanOf(const Call& call, Measure part) {
  if (!call.KnowsHead()) return std::nullopt;
  const auto from_window = [&](TimeNs begin, TimeNs end) {
    return Interval{std::max(begin, call.frontend_begin), std::max(end, call.frontend_begin)};
  };
  const TimeNs py_end = call.cpp_begin.value_or(call.ge_begin.value_or(call.end));
  switch (part) {
    case Measure::kPlatform:
      return from_window(call.frontend_begin, call.entered);
    case Measure::kDynamo:
      return from_window(call.entered, call.python_begin);
    case Measure::kTorchairPy:
      if (call.Has(Flag::kNoPyAnchor) && py_end == call.python_begin) return std::nullopt;
      return from_window(call.python_begin, py_end);
    case Measure::kTorchairCpp:
      if (!call.cpp_begin) return std::nullopt;
      return from_window(*call.cpp_begin, call.ge_begin.value_or(call.end));
    default:
      if (!call.ge_begin || part != call.Parts().back()) return std::nullopt;
      return from_window(*call.ge_begin, call.end);
  }
}

std::optional<Intervals> SpansOf(const HeadAnalysis& analysis, const Call& call, Measure part) {
  const bool serves = part == Measure::kServing;
  if (serves && !analysis.serving.Any()) return std::nullopt;
  const auto span = SpanOf(call, serves ? Measure::kPlatform : part);
  if (!span) return std::nullopt;
  Intervals spans = Union({*span});
  if (!serves && part != Measure::kPlatform) return spans;
  const Intervals serving = analysis.serving.Within(call.track, *span);
  return serves ? serving : Difference(spans, serving);
}

void MeasureCall(const HeadAnalysis& analysis, const CallParts& parts, Call& call) {
  CallTimes times(analysis, parts, call);
  if (call.KnowsHead()) times.MeasureHead();
  times.MeasureLatencies();
}

}  // namespace mpa::head
