// SPDX-License-Identifier: Apache-2.0
// What happens within a call: in the platform, TorchAir's Python and its C++, then from GE on.
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "call_children.h"
#include "mpa/base/text.h"
#include "segments.h"

namespace mpa::head {

std::vector<Child> ChildCollector::Collect() {
  if (call_.KnowsHead()) {
    AddPlatform();
    AddPython();
    AddCpp();
    AddGe();
    AddEpilogue();
  }
  return Joined();
}

void ChildCollector::AddRest(ChildSegment segment, std::string_view name, const Interval& span,
                             std::vector<Interval> covered) {
  Add(segment, kUnattributed, name, {span.begin, span.begin}, 0);  // there even if it is 0
  for (const Interval& gap : Difference({span}, Union(std::move(covered)))) {
    Add(segment, kUnattributed, name, gap, 0);
  }
}

void ChildCollector::AddPlatform() {
  const auto span = SpanOf(call_, Segment::kPlatform);
  std::vector<Interval> covered;
  ForEachNode(*span, parts_.found.node, [&](std::int64_t node, const Interval& time) {
    const std::string_view name = NameOfNode(node);
    const bool op = name.starts_with("aten::") || name.starts_with("npu::");
    Add(ChildSegment::kPlatform, op ? "op" : "event", name, time);
    covered.push_back(time);
  });
  AddRest(ChildSegment::kPlatform, "(no event)", *span, std::move(covered));
  for (std::int64_t at = a_.forest.FirstFrom(call_.track, span->begin);
       at < a_.forest.EndOf(call_.track) && a_.forest.At(at).start < span->end; ++at) {
    const HostNode& node = a_.forest.At(at);
    if (node.event != HostEvent::kBlocking) continue;
    Add(ChildSegment::kPlatform, "of_which_waiting", NameOfNode(at),
        {node.start, std::min(node.end, span->end)});
  }
  for (const std::size_t row : a_.runtime.Starting(call_.track, span->begin, span->end)) {
    const RuntimeCall meaning = a_.runtime.Meaning(row);
    if (meaning != RuntimeCall::kSync && meaning != RuntimeCall::kMemcpy) continue;
    AddRuntime(ChildSegment::kPlatform, "of_which_waiting", row, *span);
  }
  const auto first =
      std::partition_point(finder_.garbage_.begin(), finder_.garbage_.end(),
                           [&](const Interval& garbage) { return garbage.end <= span->begin; });
  for (auto at = first; at != finder_.garbage_.end() && at->begin < span->end; ++at) {
    Add(ChildSegment::kPlatform, "of_which_gc", "GC",
        {std::max(at->begin, span->begin), std::min(at->end, span->end)});
  }
}

void ChildCollector::AddPython() {
  const auto span = SpanOf(call_, Segment::kTorchairPy);
  if (!span) return;
  const FoundCall& found = parts_.found;
  const std::int64_t inner = found.run != HostNode::kNone         ? found.run
                             : found.execution != HostNode::kNone ? found.execution
                             : found.replay != HostNode::kNone    ? found.replay
                                                                  : found.eager_run;
  std::vector<PyChild> nodes;
  std::vector<Interval> covered;
  ForEachNode(*span, inner, [&](std::int64_t node, const Interval& time) {
    nodes.push_back({NameOfNode(node), a_.forest.At(node).event, time, {}, true});
    covered.push_back(time);
  });
  ClassifyPyChildren(call_.engine, nodes);
  for (const PyChild& node : nodes) {
    Add(ChildSegment::kTorchairPy, node.kind, node.name, node.time, node.counts ? 1 : 0);
  }
  AddRest(ChildSegment::kTorchairPy, "Python", *span, std::move(covered));
}

void ChildCollector::AddCpp() {
  const auto span = SpanOf(call_, Segment::kTorchairCpp);
  if (!span || call_.engine == Engine::kAclGraph) return;
  std::string_view gap_name = "gap_before_assemble";
  std::vector<Piece> gaps;
  TimeNs at = span->begin;
  const auto close_gap = [&](TimeNs until, std::string_view name) {
    if (until <= at) return;
    gaps.push_back({{ChildSegment::kTorchairCpp, "gap", name}, {at, until}});
  };
  ForEachNode(*span, parts_.found.execution, [&](std::int64_t node, const Interval& time) {
    const HostEvent event = a_.forest.At(node).event;
    const bool binds = event == HostEvent::kAssembleOutputs && gap_name == "gap_after_inputs";
    close_gap(time.begin, binds                            ? "gap_in_to_out"
                          : gap_name == "gap_after_inputs" ? "gap_before_execute"
                                                           : gap_name);
    if (event == HostEvent::kAssembleInputs) gap_name = "gap_after_inputs";
    if (event == HostEvent::kAssembleOutputs || event == HostEvent::kLoadGraph) {
      gap_name = "gap_before_execute";
    }
    const bool known = event == HostEvent::kAssembleInputs ||
                       event == HostEvent::kAssembleOutputs || event == HostEvent::kLoadGraph;
    Add(ChildSegment::kTorchairCpp, known ? "event" : "other_op", NameOfNode(node), time);
    if (event == HostEvent::kAssembleInputs) AddSync(ChildSegment::kTorchairCpp, time);
    at = std::max(at, time.end);
  });
  if (gap_name == "gap_after_inputs") gap_name = "gap_before_execute";
  close_gap(span->end, parts_.found.assembled ? gap_name : kUnattributed);
  for (const Piece& gap : gaps) pieces_.push_back(gap);
  AddQueueDrain(gaps);
}

void ChildCollector::AddSync(ChildSegment segment, const Interval& span) {
  for (const std::size_t row : a_.runtime.Starting(call_.track, span.begin, span.end)) {
    const RuntimeCall meaning = a_.runtime.Meaning(row);
    if (meaning == RuntimeCall::kSync || meaning == RuntimeCall::kMemcpy ||
        meaning == RuntimeCall::kMemcpyAsync) {
      AddRuntime(segment, kOfWhichSync, row, span);
    }
  }
}

void ChildCollector::AddQueueDrain(const std::vector<Piece>& gaps) {
  const auto largest =
      std::max_element(gaps.begin(), gaps.end(), [](const Piece& a, const Piece& b) {
        return a.time.end - a.time.begin < b.time.end - b.time.begin;
      });
  const auto queue = finder_.queue_of_pid_.find(call_.pid);
  if (largest == gaps.end() || queue == finder_.queue_of_pid_.end()) return;
  const Interval gap = largest->time;
  const auto first = std::partition_point(queue->second.begin(), queue->second.end(),
                                          [&](const auto& work) { return work.end <= gap.begin; });
  std::vector<Piece> drained;
  std::vector<Interval> covered;
  for (auto at = first; at != queue->second.end() && at->start < gap.end; ++at) {
    const Interval time{std::max(at->start, gap.begin), std::min(at->end, gap.end)};
    drained.push_back(
        {{ChildSegment::kTorchairCpp, kQueueDrain, strings_.View(at->name), 1}, time});
    covered.push_back(time);
  }
  if (2 * Length(Union(std::move(covered))) < gap.end - gap.begin) return;
  for (const Piece& piece : drained) pieces_.push_back(piece);
}

std::vector<Child> ChildCollector::Joined() {
  std::stable_sort(pieces_.begin(), pieces_.end(),
                   [](const Piece& a, const Piece& b) { return a.child.Key() < b.child.Key(); });
  const DeviceTimeline* device = a_.devices.Of(call_.pid);
  std::vector<Child> children;
  for (auto first = pieces_.begin(); first != pieces_.end();) {
    Child child = first->child;
    child.count = 0;
    std::vector<Interval> times;
    auto at = first;
    for (; at != pieces_.end() && at->child.Key() == first->child.Key(); ++at) {
      child.count += at->child.count;
      times.push_back(at->time);
    }
    const Intervals covered = Union(std::move(times));
    child.total = Length(covered);
    if (device != nullptr && call_.first_kernel) {
      child.exposed = device->Idle(covered, *call_.first_kernel);
    }
    children.push_back(child);
    first = at;
  }
  return children;
}

// What happens within the segments of a call.

namespace {

constexpr std::array<std::string_view, kChildSegments> kSegmentNames = {
    "platform", "torchair_py", "torchair_cpp", "ge", "aclgraph", "epilogue"};

}  // namespace

std::string_view NameOf(ChildSegment segment) {
  return kSegmentNames[static_cast<std::size_t>(segment)];
}

ChildFinder::ChildFinder(const RankTrace& trace, const HeadAnalysis& analysis)
    : trace_(trace), analysis_(analysis), garbage_(Covered(trace.garbage_collections)) {
  const QueuedWork& work = trace.queued_work;
  for (const std::size_t row : work.RowsByStart()) {
    const std::int64_t pid = trace.tracks.pid[static_cast<std::size_t>(work.track[row])];
    queue_of_pid_[pid].push_back(
        {work.start[row], work.start[row] + work.dur[row], work.name[row]});
  }
}

std::vector<Child> ChildFinder::Of(std::size_t call) const {
  return ChildCollector(*this, call).Collect();
}

void CountConversions(const std::vector<Child>& children, Call& call) {
  for (const Child& child : children) {
    if (child.segment != ChildSegment::kTorchairPy) continue;
    if (child.kind == kTensorConstruct) call.tensors_built += child.count;
    if (child.kind == kContiguous) call.contiguous += child.count;
    if (child.kind == kClone) call.clones += child.count;
    if (child.kind == kToCopy) call.copies += child.count;
  }
}

// What TorchAir's Python does before the graph runs: mostly conversions of inputs.

namespace {

// Building a tensor from a Python value takes several operators, among them one of this name; in
// newer versions it is the only one.
constexpr std::string_view kLift = "aten::lift_fresh";

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

}  // namespace

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

// What happens from the start of GE or of the replay on: the runtime's calls, then the handling of
// outputs.

void ChildCollector::AddGe() {
  if (!call_.t3) return;
  const Interval span{std::max(*call_.t3, call_.w0),
                      std::max(parts_.bounds.executed.value_or(call_.t4), call_.w0)};
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
  add(a_.runtime.Starting(call_.track, span.begin, span.end));
  for (const std::size_t worker : parts_.workers) {
    add(a_.runtime.Starting(a_.runtime.Table().track[worker], a_.runtime.Start(worker),
                            a_.runtime.End(worker)));
  }
  // Without events of the runtime there is nothing to attribute.
  if (covered.empty()) return;
  AddRest(GraphSegment(), call_.Replays() ? "replay" : "GE", span, std::move(covered));
}

void ChildCollector::AddGeRow(std::size_t row, const Interval& span, bool nested) {
  const std::string_view name = strings_.View(a_.runtime.Table().name[row]);
  const auto add = [&](std::string_view kind, std::string_view of_which, std::string_view title) {
    AddRuntime(GraphSegment(), nested ? of_which : kind, row, span, title);
  };
  switch (a_.runtime.Meaning(row)) {
    case RuntimeCall::kLaunch:
      add(kLaunch, kOfWhichLaunch, "launch");
      return;
    case RuntimeCall::kModelExecute:
      AddOwnTime(row, span);
      return;
    case RuntimeCall::kInferShape:
      add("infer_shape", "of_which_infer_shape", "InferShape");
      return;
    case RuntimeCall::kTiling:
      add("tiling", "of_which_tiling", "Tiling");
      return;
    case RuntimeCall::kInputCopy:
    case RuntimeCall::kStepInfo:
    case RuntimeCall::kOutputCopy:
      add("event", "of_which_event", name.substr(name.find('@') + 1));
      return;
    default:
      add("runtime", "of_which_runtime", name);
  }
}

void ChildCollector::AddOwnTime(std::size_t row, const Interval& span) {
  const Interval time{a_.runtime.Start(row), std::min(a_.runtime.End(row), span.end)};
  std::vector<Interval> inner;
  for (const std::size_t other :
       a_.runtime.Starting(a_.runtime.Table().track[row], time.begin, time.end)) {
    if (a_.runtime.Meaning(other) == RuntimeCall::kModelExecute) continue;
    inner.push_back({a_.runtime.Start(other), a_.runtime.End(other)});
  }
  std::int64_t count = 1;  // of all its pieces
  for (const Interval& own : Difference({time}, Union(std::move(inner)))) {
    Add(GraphSegment(), "event", "ModelExecute (self)", own, count);
    count = 0;
  }
}

void ChildCollector::AddEpilogue() {
  if (parts_.found.run == HostNode::kNone || !call_.t3) return;
  const TimeNs run_end = std::max(a_.forest.At(parts_.found.run).end, call_.w0);
  if (parts_.bounds.executed) {
    const Interval cpp{std::max(*parts_.bounds.executed, call_.w0), run_end};
    std::vector<Interval> covered;
    ForEachNode(cpp, HostNode::kNone, [&](std::int64_t node, const Interval& time) {
      AddOutputs(node, time);
      covered.push_back(time);
    });
    AddRest(ChildSegment::kEpilogue, "other C++", cpp, std::move(covered));
    AddSync(ChildSegment::kEpilogue, cpp);
  }
  if (!call_.epilogue_py) return;
  const Interval py{run_end, call_.t4};
  std::vector<Interval> covered;
  ForEachNode(py, HostNode::kNone, [&](std::int64_t node, const Interval& time) {
    const std::string_view name = NameOfNode(node);
    Add(ChildSegment::kEpilogue, name == "aten::copy_" ? "write_back" : "other_op", name, time);
    covered.push_back(time);
  });
  AddRest(ChildSegment::kEpilogue, "Python", py, std::move(covered));
}

void ChildCollector::AddOutputs(std::int64_t node, const Interval& time) {
  const bool refresh = a_.forest.At(node).event == HostEvent::kRefreshOutputs;
  Add(ChildSegment::kEpilogue, refresh ? "refresh" : "other_op", NameOfNode(node), time);
  if (!refresh) return;
  for (std::int64_t at = node + 1; at < a_.forest.At(node).subtree_end;
       at = a_.forest.At(at).subtree_end) {
    Add(ChildSegment::kEpilogue, "of_which_outputs", NameOfNode(at),
        {a_.forest.At(at).start, a_.forest.At(at).end});
  }
}

}  // namespace mpa::head
