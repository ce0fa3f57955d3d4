// SPDX-License-Identifier: Apache-2.0
// What happens within a call: in the platform, TorchAir's Python and its C++, then from GE on.
#include <algorithm>
#include <span>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "summary.h"

namespace mpa::head {

// What TorchAir's Python does before the graph runs: mostly conversions of inputs.

namespace {

// An event directly within TorchAir's Python.
struct PyChild {
  std::string_view name;
  HostEvent event{};
  Interval time;
  std::string_view kind{};
  bool counts = true;  // false: a part of the conversion that another event counts
};

// Building a tensor from a Python value takes several operators, among them one of this name; in
// newer versions it is the only one.
constexpr std::string_view kLift = "aten::lift_fresh";

constexpr std::string_view kNoEvent = "(no event)";

bool MayBuildTensor(std::string_view name) {
  return IsOneOf(
      name, {"aten::empty", "aten::to", "aten::_to_copy", "aten::copy_", kLift, "aten::detach_"});
}

std::string_view KindOfAlone(const PyChild& child, Engine engine) {
  const std::string_view name = child.name;
  if (child.event == HostEvent::kCompiledCall || child.event == HostEvent::kCachedCall) {
    return "nested_call";
  }
  if (IsCompileEvent(child.event)) return "compile";
  if (engine == Engine::kEagerFx) return "other_op";  // the graph itself
  if (engine == Engine::kAclGraph &&
      IsOneOf(name, {"aten::_foreach_copy_", "aten::copy_", "process_input"})) {
    return "input_copy";
  }
  if (name == "aten::contiguous" || name.starts_with("contiguous_") ||
      name.starts_with("cached_contiguous_") || name.starts_with("format_contiguous")) {
    return kContiguous;
  }
  if (name == "aten::clone") return kClone;
  if (IsOneOf(name, {"aten::to", "aten::_to_copy", "aten::copy_"}) ||
      (name.starts_with("npu::") && name.find("copy") != std::string_view::npos)) {
    return kToCopy;
  }
  return "other_op";
}

// Sets the kinds of the events of one call, which come in order of time.
void ClassifyPyChildren(Engine engine, std::vector<PyChild>& children) {
  std::size_t run = 0;  // where operators that may build the next tensor begin
  for (std::size_t i = 0; i < children.size(); ++i) {
    PyChild& child = children[i];
    child.kind = KindOfAlone(child, engine);
    if (child.kind == kContiguous) child.counts = child.name == "aten::contiguous";
    if (!MayBuildTensor(child.name) || engine == Engine::kEagerFx) {
      run = i + 1;
      continue;
    }
    const bool ends = i > 0 && child.name == "aten::detach_" && children[i - 1].name == kLift;
    if (ends) {
      child.kind = kTensorConstruct;
      child.counts = false;
      run = i + 1;
    }
    if (child.name != kLift) continue;
    for (; run <= i; ++run) {
      children[run].kind = kTensorConstruct;
      children[run].counts = run == i;
    }
  }
}

}  // namespace

// The pieces of one call.
class CallPieces {
 public:
  CallPieces(const HeadAnalysis& analysis, std::size_t call)
      : a_(analysis),
        strings_(a_.trace.strings),
        call_(a_.calls[call]),
        parts_(a_.parts[call]),
        graph_part_(call_.Parts().back()) {}

 protected:
  struct Piece {
    Child child;
    Interval time;
  };

  const HostNode& At(std::int64_t node) const { return a_.forest.At(node); }
  std::string_view NameOfNode(std::int64_t node) const { return strings_.View(At(node).name); }
  std::string_view NameOfCall(std::size_t row) const {
    return strings_.View(a_.runtime.Table().name[row]);
  }

  void Add(Measure part, std::string_view kind, std::string_view name, const Interval& time,
           std::int64_t count = 1) {
    pieces_.push_back({{part, kind, name, count}, time});
  }
  void AddRuntime(Measure part, std::string_view kind, std::size_t row, const Interval& span) {
    Add(part, kind, NameOfCall(row),
        {a_.runtime.Start(row), std::min(a_.runtime.End(row), span.end)});
  }
  // What of `span` none of `covered` covers.
  void AddRest(Measure part, std::string_view name, const Interval& span,
               std::vector<Interval> covered) {
    Add(part, kUnattributed, name, {span.begin, span.begin}, 0);  // there even if it is 0
    for (const Interval& gap : Difference({span}, Union(std::move(covered)))) {
      Add(part, kUnattributed, name, gap, 0);
    }
  }

  // The outermost nodes of the call's thread that start within `span`, without those that hold
  // `inner`, which are looked into.
  template <typename OnNode>
  void ForEachNode(const Interval& span, std::int64_t inner, OnNode on_node) const {
    const std::int64_t end = a_.forest.EndOf(call_.track);
    for (std::int64_t at = a_.forest.FirstFrom(call_.track, span.begin);
         at < end && At(at).start < span.end;) {
      const HostNode& node = At(at);
      const bool holds_inner = at <= inner && inner < node.subtree_end;
      const bool looked_into = at == parts_.node || at == parts_.run || holds_inner;
      if (!looked_into) on_node(at, Interval{node.start, std::min(node.end, span.end)});
      at = looked_into ? at + 1 : node.subtree_end;
    }
  }
  // Those nodes as children of one part, with the time between them. `kind` tells the kind of one.
  template <typename KindOf>
  void AddNodes(Measure part, const Interval& span, std::int64_t inner, std::string_view rest,
                KindOf kind) {
    std::vector<Interval> covered;
    ForEachNode(span, inner, [&](std::int64_t node, const Interval& time) {
      Add(part, kind(node), NameOfNode(node), time);
      covered.push_back(time);
    });
    AddRest(part, rest, span, std::move(covered));
  }

  // One child for each part, kind and name, with the time that its pieces cover together.
  std::vector<Child> Joined() {
    StableSort(pieces_,
               [](const Piece& a, const Piece& b) { return a.child.Key() < b.child.Key(); });
    const DeviceTimeline* device = a_.devices.Of(call_.pid);
    std::vector<Child> children;
    for (auto at = pieces_.begin(); at != pieces_.end();) {
      Child& child = children.emplace_back(at->child);
      child.count = 0;
      std::vector<Interval> times;
      for (; at != pieces_.end() && at->child.Key() == child.Key(); ++at) {
        child.count += at->child.count;
        times.push_back(at->time);
      }
      const Intervals covered = Union(std::move(times));
      child.total = Length(covered);
      if (call_.first_kernel) child.exposed = device->Idle(covered, *call_.first_kernel);
    }
    return children;
  }

  const HeadAnalysis& a_;
  const StringPool& strings_;
  const Call& call_;
  const CallParts& parts_;
  Measure graph_part_;  // where the execution of the graph belongs
  std::vector<Piece> pieces_;
};

// Collects them.
class ChildCollector : CallPieces {
 public:
  ChildCollector(const ChildFinder& finder, std::size_t call)
      : CallPieces(finder.analysis_, call), finder_(finder) {}

  std::vector<Child> Collect() {
    if (call_.KnowsHead()) {
      AddPlatform();
      AddServing();
      AddPython();
      AddCpp();
      AddGe();
      AddEpilogue();
    }
    return Joined();
  }

 private:
  void AddPlatform() {
    AddRest(Measure::kPlatform, kNoEvent, {call_.frontend_begin, call_.frontend_begin}, {});
    const auto spans = SpansOf(a_, call_, Measure::kPlatform);
    for (const Interval& span : *spans) {
      AddNodes(Measure::kPlatform, span, parts_.node, kNoEvent,
               [&](std::int64_t node) { return IsOperator(NameOfNode(node)) ? "op" : "event"; });
      AddWaits(Measure::kPlatform, span);
    }
  }

  void AddServing() {
    const auto spans = SpansOf(a_, call_, Measure::kServing);
    if (!spans) return;
    for (const ServingEvents::Piece& piece :
         a_.serving.PiecesWithin(call_.track, *SpanOf(call_, Measure::kPlatform)))
      Add(Measure::kServing, "event", strings_.View(piece.name), piece.time, piece.first ? 1 : 0);
    for (const Interval& span : *spans) AddWaits(Measure::kServing, span);
  }

  // Of what is before the model is entered: what waits for the device, and garbage collections.
  void AddWaits(Measure part, const Interval& span) {
    for (std::int64_t at = a_.forest.FirstFrom(call_.track, span.begin);
         at < a_.forest.EndOf(call_.track) && At(at).start < span.end; ++at) {
      if (At(at).event != HostEvent::kBlocking) continue;
      Add(part, "of_which_waiting", NameOfNode(at), {At(at).start, std::min(At(at).end, span.end)});
    }
    for (const std::size_t row : a_.runtime.Starting(call_.track, span)) {
      if (!IsWait(a_.runtime.Meaning(row))) continue;
      AddRuntime(part, "of_which_waiting", row, span);
    }
    const Intervals& garbage = finder_.garbage_;
    auto at = std::partition_point(garbage.begin(), garbage.end(),
                                   [&](const Interval& one) { return one.end <= span.begin; });
    for (; at != garbage.end() && at->begin < span.end; ++at) {
      Add(part, "of_which_gc", "GC",
          {std::max(at->begin, span.begin), std::min(at->end, span.end)});
    }
  }

  void AddPython() {
    const auto span = SpanOf(call_, Measure::kTorchairPy);
    if (!span) return;
    const std::int64_t inner = parts_.run != HostNode::kNone         ? parts_.run
                               : parts_.execution != HostNode::kNone ? parts_.execution
                               : parts_.replay != HostNode::kNone    ? parts_.replay
                                                                     : parts_.eager_run;
    std::vector<PyChild> nodes;
    std::vector<Interval> covered;
    ForEachNode(*span, inner, [&](std::int64_t node, const Interval& time) {
      nodes.push_back({NameOfNode(node), At(node).event, time, {}, true});
      covered.push_back(time);
    });
    ClassifyPyChildren(call_.engine, nodes);
    for (const PyChild& node : nodes) {
      Add(Measure::kTorchairPy, node.kind, node.name, node.time, node.counts ? 1 : 0);
    }
    AddRest(Measure::kTorchairPy, "Python", *span, std::move(covered));
  }

  void AddCpp() {
    const auto span = SpanOf(call_, Measure::kTorchairCpp);
    if (!span || call_.Replays()) return;
    std::string_view gap_name = "gap_before_assemble";
    std::vector<Piece> gaps;
    TimeNs at = span->begin;
    const auto close_gap = [&](TimeNs until, std::string_view name) {
      if (until > at) gaps.push_back({{Measure::kTorchairCpp, "gap", name}, {at, until}});
    };
    ForEachNode(*span, parts_.execution, [&](std::int64_t node, const Interval& time) {
      const HostEvent event = At(node).event;
      const bool is_input = event == HostEvent::kAssembleInputs;
      const bool is_output = event == HostEvent::kAssembleOutputs;
      const bool known = is_input || is_output || event == HostEvent::kLoadGraph;
      const bool behind_inputs = gap_name == "gap_after_inputs";
      close_gap(time.begin, !behind_inputs ? gap_name
                            : is_output    ? "gap_in_to_out"
                                           : "gap_before_execute");
      if (known) gap_name = is_input ? "gap_after_inputs" : "gap_before_execute";
      Add(Measure::kTorchairCpp, known ? "event" : "other_op", NameOfNode(node), time);
      if (is_input) AddSync(Measure::kTorchairCpp, time);
      at = std::max(at, time.end);
    });
    if (gap_name == "gap_after_inputs") gap_name = "gap_before_execute";
    close_gap(span->end, parts_.assembled ? gap_name : kUnattributed);
    pieces_.insert(pieces_.end(), gaps.begin(), gaps.end());
    AddQueueDrain(gaps);
  }

  void AddSync(Measure part, const Interval& span) {
    for (const std::size_t row : a_.runtime.Starting(call_.track, span)) {
      const RuntimeCall meaning = a_.runtime.Meaning(row);
      if (!IsWait(meaning) && meaning != RuntimeCall::kMemcpyAsync) continue;
      AddRuntime(part, kOfWhichSync, row, span);
    }
  }

  // The largest gap is a wait for eager operators when the thread that launches these was busy for
  // at least half of it.
  void AddQueueDrain(const std::vector<Piece>& gaps) {
    const auto length = [](const Interval& time) { return time.end - time.begin; };
    const auto largest = std::ranges::max_element(
        gaps, [&](const Piece& a, const Piece& b) { return length(a.time) < length(b.time); });
    const auto queue = finder_.queue_of_pid_.find(call_.pid);
    if (largest == gaps.end() || queue == finder_.queue_of_pid_.end()) return;
    const Interval gap = largest->time;
    const QueuedWork& work = a_.trace.queued_work;
    const auto end_of = [&](std::size_t row) { return work.start[row] + work.dur[row]; };
    const std::vector<std::size_t>& rows = queue->second;
    auto at = std::partition_point(rows.begin(), rows.end(),
                                   [&](std::size_t row) { return end_of(row) <= gap.begin; });
    const auto first_drained = static_cast<std::ptrdiff_t>(pieces_.size());
    std::vector<Interval> covered;
    for (; at != rows.end() && work.start[*at] < gap.end; ++at) {
      const Interval time{std::max(work.start[*at], gap.begin), std::min(end_of(*at), gap.end)};
      Add(Measure::kTorchairCpp, kQueueDrain, strings_.View(work.name[*at]), time);
      covered.push_back(time);
    }
    if (2 * Length(Union(std::move(covered))) >= length(gap)) return;
    pieces_.erase(pieces_.begin() + first_drained, pieces_.end());
  }

  void AddGe() {
    if (!call_.ge_begin) return;
    const Interval span{std::max(*call_.ge_begin, call_.frontend_begin),
                        std::max(parts_.executed.value_or(call_.end), call_.frontend_begin)};
    std::vector<Interval> covered;
    const auto add = [&](std::span<const std::size_t> rows) {
      TimeNs counted_until = span.begin;  // by a call whose inner calls are parts of it
      for (const std::size_t row : rows) {
        AddGeRow(row, span, /*nested=*/a_.runtime.Start(row) < counted_until);
        covered.push_back({a_.runtime.Start(row), std::min(a_.runtime.End(row), span.end)});
        if (a_.runtime.Meaning(row) == RuntimeCall::kModelExecute) continue;
        counted_until = std::max(counted_until, a_.runtime.End(row));
      }
    };
    add(a_.runtime.Starting(call_.track, span));
    for (const std::size_t worker : parts_.workers) {
      add(a_.runtime.Starting(a_.runtime.TrackOf(worker), a_.runtime.Span(worker)));
    }
    // Without events of the runtime there is nothing to attribute.
    if (covered.empty()) return;
    AddRest(graph_part_, call_.Replays() ? "replay" : "GE", span, std::move(covered));
  }

  void AddGeRow(std::size_t row, const Interval& span, bool nested) {
    const std::string_view name = NameOfCall(row);
    const Interval time{a_.runtime.Start(row), std::min(a_.runtime.End(row), span.end)};
    const auto add = [&](std::string_view kind, std::string_view of_which, std::string_view title) {
      Add(graph_part_, nested ? of_which : kind, title, time);
    };
    switch (a_.runtime.Meaning(row)) {
      case RuntimeCall::kLaunch:
        return add(kLaunch, kOfWhichLaunch, "launch");
      case RuntimeCall::kModelExecute:
        return AddOwnTime(row, time);
      case RuntimeCall::kInferShape:
        return add("infer_shape", "of_which_infer_shape", "InferShape");
      case RuntimeCall::kTiling:
        return add("tiling", "of_which_tiling", "Tiling");
      case RuntimeCall::kInputCopy:
      case RuntimeCall::kStepInfo:
      case RuntimeCall::kOutputCopy:
        return add("event", "of_which_event", name.substr(name.find('@') + 1));
      default:
        return add("runtime", "of_which_runtime", name);
    }
  }

  // An execution without what it calls.
  void AddOwnTime(std::size_t row, const Interval& time) {
    std::vector<Interval> inner;
    for (const std::size_t other : a_.runtime.Starting(a_.runtime.TrackOf(row), time)) {
      if (a_.runtime.Meaning(other) == RuntimeCall::kModelExecute) continue;
      inner.push_back(a_.runtime.Span(other));
    }
    std::int64_t count = 1;  // of all its pieces
    for (const Interval& own : Difference({time}, Union(std::move(inner)))) {
      Add(graph_part_, "event", "ModelExecute (self)", own, std::exchange(count, 0));
    }
  }

  void AddEpilogue() {
    if (parts_.run == HostNode::kNone || !call_.ge_begin) return;
    const TimeNs run_end = std::max(At(parts_.run).end, call_.frontend_begin);
    if (parts_.executed) {
      const Interval cpp{std::max(*parts_.executed, call_.frontend_begin), run_end};
      AddNodes(Measure::kEpilogue, cpp, HostNode::kNone, "other C++", [&](std::int64_t node) {
        if (At(node).event != HostEvent::kRefreshOutputs) return "other_op";
        AddOutputs(node);
        return "refresh";
      });
      AddSync(Measure::kEpilogue, cpp);
    }
    if (!call_.Of(Measure::kEpiloguePy)) return;
    AddNodes(Measure::kEpilogue, {run_end, call_.end}, HostNode::kNone, "Python",
             [&](std::int64_t node) {
               return NameOfNode(node) == "aten::copy_" ? "write_back" : "other_op";
             });
  }

  void AddOutputs(std::int64_t node) {
    for (std::int64_t at = node + 1; at < At(node).subtree_end; at = At(at).subtree_end) {
      Add(Measure::kEpilogue, "of_which_outputs", NameOfNode(at), {At(at).start, At(at).end});
    }
  }

  const ChildFinder& finder_;
};

ChildFinder::ChildFinder(const HeadAnalysis& analysis)
    : analysis_(analysis), garbage_(Covered(analysis.trace.garbage_collections)) {
  const QueuedWork& work = analysis.trace.queued_work;
  for (const std::size_t row : work.RowsByStart()) {
    const auto track = static_cast<std::size_t>(work.track[row]);
    queue_of_pid_[analysis.trace.tracks.pid[track]].push_back(row);
  }
}

std::vector<Child> ChildFinder::Of(std::size_t call) const {
  return ChildCollector(*this, call).Collect();
}

void CountConversions(const std::vector<Child>& children, Call& call) {
  for (const Child& child : children) {
    if (child.part != Measure::kTorchairPy) continue;
    if (child.kind == kTensorConstruct) call.tensors_built += child.count;
    if (child.kind == kContiguous) call.contiguous += child.count;
    if (child.kind == kClone) call.clones += child.count;
    if (child.kind == kToCopy) call.copies += child.count;
  }
}

}  // namespace mpa::head
