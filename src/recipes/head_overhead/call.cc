// SPDX-License-Identifier: Apache-2.0
// Calls of graphs: how they are named and found.
#include "call.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analyse.h"
#include "mpa/base/enum_name.h"

namespace mpa::head {

std::string_view NameOf(CallKind kind) {
  return EnumName<CallKind::kRuntimeOnly>(
      kind, {"compiled_call", "cached_call", "run_alone", "execution_alone", "replay_alone",
             "runtime_alone"});
}

std::string_view NameOf(Engine engine) {
  return EnumName<Engine::kUnknown>(
      engine, {"GE_STATIC", "GE_DYNAMIC", "GE", "ACLGRAPH", "EAGER_FX", "UNKNOWN"});
}

std::string_view NameOf(Phase phase) { return phase == Phase::kSteady ? "steady" : "compile"; }

std::string_view NameOf(KernelSource source) {
  return EnumName<KernelSource::kTime>(source, {"", "launch", "iteration", "model_fifo", "time"});
}

std::string FlagText(const Call& call) {
  std::string text;
  for (const FlagInfo& info : kFlags) {
    if (!call.Has(info.flag)) continue;
    if (!text.empty()) text += '|';
    text += info.name;
  }
  return text;
}

namespace {

class Walk {
 public:
  explicit Walk(HeadAnalysis& analysis) : a_(analysis), forest_(analysis.forest) {
    anchors_before_.reserve(forest_.Nodes().size() + 1);
    std::int64_t anchors = 0;
    for (const HostNode& node : forest_.Nodes()) {
      anchors_before_.push_back(anchors);
      if (node.event == HostEvent::kCompiledCall) ++anchors;
    }
    anchors_before_.push_back(anchors);
  }

  void FindCalls() {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(forest_.Nodes().size()); ++i) {
      while (!open_.empty() && forest_.At(a_.parts[open_.back()].node).subtree_end <= i) {
        open_.pop_back();
      }
      Visit(i);
    }
  }

 private:
  CallParts* Owner() { return open_.empty() ? nullptr : &a_.parts[open_.back()]; }

  CallParts& Open(CallKind kind, std::int64_t node) {
    Call& call = a_.calls.emplace_back();
    call.kind = kind;
    call.parent = open_.empty() ? -1 : static_cast<std::int64_t>(open_.back());
    call.track = forest_.At(node).track;
    open_.push_back(a_.parts.size());
    return a_.parts.emplace_back(CallParts{.node = node});
  }

  // The event belongs to the call around it, or is all that is left of a call.
  void Assign(std::int64_t CallParts::*part, std::int64_t node, CallKind alone) {
    CallParts* owner = Owner();
    if (owner == nullptr) owner = &Open(alone, node);
    if (owner->*part == HostNode::kNone) owner->*part = node;
  }

  bool HoldsAnchor(std::int64_t node) const {
    const auto end = static_cast<std::size_t>(forest_.At(node).subtree_end);
    return anchors_before_[end] > anchors_before_[static_cast<std::size_t>(node)];
  }

  void Visit(std::int64_t i) {
    switch (forest_.At(i).event) {
      case HostEvent::kCompiledCall:
        Open(CallKind::kCompilerInference, i);
        break;
      case HostEvent::kCachedCall:
        if (!HoldsAnchor(i)) Open(CallKind::kCachedInference, i);
        break;
      case HostEvent::kRun:
        Assign(&CallParts::run, i, CallKind::kGraphRun);
        break;
      case HostEvent::kGraphExecution:
        Assign(&CallParts::execution, i, CallKind::kGraphExecution);
        break;
      case HostEvent::kReplay:
        Assign(&CallParts::replay, i, CallKind::kAclGraphReplay);
        break;
      case HostEvent::kEagerRun:
        Assign(&CallParts::eager_run, i, CallKind::kAclGraphReplay);
        break;
      case HostEvent::kAssembleInputs:
      case HostEvent::kAssembleOutputs:
      case HostEvent::kLoadGraph:
        NoteAssembly(i);
        break;
      default:
        break;
    }
  }

  void NoteAssembly(std::int64_t i) {
    CallParts* owner = Owner();
    if (owner == nullptr) return;
    const HostNode& node = forest_.At(i);
    owner->assembled = std::max(owner->assembled.value_or(node.end), node.end);
    if (node.event == HostEvent::kAssembleInputs && owner->assemble_inputs == HostNode::kNone) {
      owner->assemble_inputs = i;
    }
  }

  HeadAnalysis& a_;
  const HostForest& forest_;
  std::vector<std::int64_t> anchors_before_;  // of each node: anchors among the nodes before it
  std::vector<std::size_t> open_;
};

}  // namespace

void FindCalls(HeadAnalysis& analysis) { Walk(analysis).FindCalls(); }

// What the runtime did for a call, and the names of the graphs.

namespace {

// Where GE works for a call; nothing when the begin is not known.
Interval GraphSpan(const CallParts& parts, const Call& call) {
  if (!call.ge_begin) return {};
  return {*call.ge_begin, parts.executed.value_or(call.end)};
}

// The outermost calls of each thread by time.
class CallsOfThreads {
 public:
  explicit CallsOfThreads(const HeadAnalysis& analysis) : a_(analysis) {
    for (std::size_t i = 0; i < a_.calls.size(); ++i) {
      if (a_.calls[i].parent < 0) of_track_[a_.calls[i].track].push_back(i);
    }
  }

  // The call of the thread that runs at `time`.
  std::optional<std::size_t> At(std::int32_t track, TimeNs time) const {
    const auto calls = of_track_.find(track);
    return calls != of_track_.end() ? LastBegun(calls->second, time) : std::nullopt;
  }

  // A call of another thread whose model is executed on this one.
  std::optional<std::size_t> WorkedFor(std::size_t row) const {
    for (const auto& [track, calls] : of_track_) {
      if (track == a_.runtime.TrackOf(row)) continue;
      for (const TimeNs time : {a_.runtime.Start(row), a_.runtime.End(row)}) {
        const auto call = LastBegun(calls, time);
        if (call && IsWorkerOf(row, *call)) return call;
      }
    }
    return std::nullopt;
  }

 private:
  const HostNode& Node(std::size_t call) const { return a_.forest.At(a_.parts[call].node); }

  std::optional<std::size_t> LastBegun(const std::vector<std::size_t>& calls, TimeNs time) const {
    const auto after = std::partition_point(
        calls.begin(), calls.end(), [&](std::size_t call) { return Node(call).start <= time; });
    if (after == calls.begin() || Node(*std::prev(after)).end <= time) return std::nullopt;
    return *std::prev(after);
  }

  bool IsWorkerOf(std::size_t row, std::size_t i) const {
    const Call& call = a_.calls[i];
    const auto execute = a_.parts[i].execute;
    if (!call.ge_begin || !execute) return false;
    const bool overlaps = a_.runtime.Start(row) < call.end && a_.runtime.End(row) > *call.ge_begin;
    const auto& model = a_.runtime.Table().model;
    return overlaps && model[row] == model[*execute];
  }

  const HeadAnalysis& a_;
  std::map<std::int32_t, std::vector<std::size_t>> of_track_;
};

void AddLaunches(const RuntimeCalls& runtime, std::int32_t track, const Interval& span,
                 CallParts& parts) {
  for (const std::size_t row : runtime.Starting(track, span)) {
    if (runtime.Meaning(row) == RuntimeCall::kLaunch) parts.launches.push_back(row);
  }
}

}  // namespace

std::vector<std::size_t> FindRuntimeParts(HeadAnalysis& a) {
  for (std::size_t i = 0; i < a.calls.size(); ++i) {
    CallParts& parts = a.parts[i];
    const HostNode& node = a.forest.At(parts.node);
    parts.execute = a.runtime.First(node.track, {node.start, node.end}, RuntimeCall::kModelExecute,
                                    RuntimeCall::kReplay);
    AddLaunches(a.runtime, node.track, GraphSpan(parts, a.calls[i]), parts);
  }
  const CallsOfThreads calls(a);
  std::vector<std::size_t> lone;
  for (std::int32_t track = 0; track < a.runtime.Tracks(); ++track) {
    std::vector<std::size_t> executions;
    for (const std::size_t row : a.runtime.OfTrack(track)) {
      const RuntimeCall meaning = a.runtime.Meaning(row);
      if (meaning == RuntimeCall::kModelExecute || meaning == RuntimeCall::kReplay) {
        executions.push_back(row);
      }
    }
    ForEachOutermost(a.runtime, executions, [&](std::size_t row) {
      if (calls.At(track, a.runtime.Start(row))) return;
      const auto call = calls.WorkedFor(row);
      if (!call) return lone.push_back(row);
      a.parts[*call].workers.push_back(row);
      AddLaunches(a.runtime, track, a.runtime.Span(row), a.parts[*call]);
    });
  }
  return lone;
}

Engine EngineOf(const HeadAnalysis& a, std::size_t i, bool runs_eagerly) {
  const CallParts& parts = a.parts[i];
  const Call& call = a.calls[i];
  if (runs_eagerly) return Engine::kEagerFx;
  if (parts.run == HostNode::kNone && parts.execution == HostNode::kNone) {
    const bool replays = parts.replay != HostNode::kNone || call.ge_begin;
    return replays ? Engine::kAclGraph : Engine::kUnknown;
  }
  const Interval span = GraphSpan(parts, call);
  if (a.runtime.Starting(call.track, span).empty() && parts.workers.empty()) return Engine::kGe;
  if (a.runtime.First(call.track, span, RuntimeCall::kInputCopy, RuntimeCall::kStepInfo)) {
    return Engine::kGeStatic;
  }
  // Two different operators are enough to know.
  std::set<std::pair<StringId, std::int64_t>> operators;
  for (const std::size_t row : parts.launches) {
    const StringId item = a.runtime.Table().item[row];
    if (IsParameterUpdate(a.trace.strings.View(item))) continue;
    const bool named = item != StringId::kEmpty;
    operators.emplace(item, named ? 0 : static_cast<std::int64_t>(row));
    if (operators.size() >= 2) return Engine::kGeDynamic;
  }
  return operators.empty() ? Engine::kGeStatic : Engine::kGe;
}

namespace {

bool IsNested(const HostForest& forest, std::int64_t region) {
  std::int64_t at = forest.At(region).parent;
  while (at != HostNode::kNone && forest.At(at).event != HostEvent::kRegion) {
    at = forest.At(at).parent;
  }
  return at != HostNode::kNone;
}

}  // namespace

void NameGraphs(HeadAnalysis& a) {
  std::map<std::int64_t, std::int64_t> calls_of_region, place_in_region;
  for (const CallParts& parts : a.parts) ++calls_of_region[parts.region];
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> place_in_step;  // by thread too
  for (std::size_t i = 0; i < a.calls.size(); ++i) {
    Call& call = a.calls[i];
    const std::int64_t ordinal =
        call.step >= 0 && call.parent < 0 ? ++place_in_step[{call.track, call.step}] : 0;
    const auto execute = a.parts[i].execute;
    const std::int64_t model = execute ? a.runtime.Table().model[*execute] : -1;
    call.graph = model >= 0    ? fmt::format("model {}", model)
                 : ordinal > 0 ? fmt::format("call {} of the step", ordinal)
                               : "unnamed";
    if (const std::int64_t region = a.parts[i].region; region != HostNode::kNone) {
      call.calls_of_region = static_cast<std::int32_t>(calls_of_region[region]);
      call.in_nested_region = IsNested(a.forest, region);
      if (const auto id = RegionIdOf(a.trace.strings.View(a.forest.At(region).name))) {
        call.frame = id->frame;
        call.variant = id->variant;
        call.graph = fmt::format("region {}/{}", id->frame, id->variant);
        if (call.calls_of_region > 1) call.graph += fmt::format(" #{}", ++place_in_region[region]);
      }
    }
  }
}

}  // namespace mpa::head
