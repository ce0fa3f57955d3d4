// SPDX-License-Identifier: Apache-2.0
// What happens from the start of GE or of the replay on: the runtime's calls, then the handling of
// outputs.
#include <span>

#include "child_collector.h"

namespace mpa::head {

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
