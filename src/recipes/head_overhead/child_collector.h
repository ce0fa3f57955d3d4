// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "call.h"
#include "call_children.h"
#include "host_forest.h"
#include "mpa/measure/intervals.h"

namespace mpa::head {

// Kinds of what TorchAir's Python does with the inputs of a graph.
inline constexpr std::string_view kTensorConstruct = "tensor_construct";
inline constexpr std::string_view kContiguous = "contiguous";
inline constexpr std::string_view kClone = "clone";
inline constexpr std::string_view kToCopy = "to_copy";

/// An event directly within TorchAir's Python.
struct PyChild {
  std::string_view name;
  HostEvent event{};
  Interval time;
  std::string_view kind{};
  bool counts = true;  ///< false: a part of the conversion that another event counts
};

/// Sets the kinds of the events of one call, which come in order of time.
void ClassifyPyChildren(Engine engine, std::vector<PyChild>& children);

// Collects the pieces of one call.
class ChildCollector {
 public:
  ChildCollector(const ChildFinder& finder, std::size_t call)
      : finder_(finder),
        a_(finder.analysis_),
        strings_(finder.trace_.strings),
        call_(a_.calls[call]),
        parts_(a_.parts[call]) {}

  std::vector<Child> Collect();

 private:
  struct Piece {
    Child child;
    Interval time;
  };

  bool Encloses(std::int64_t outer, std::int64_t inner) const {
    return inner != HostNode::kNone && outer <= inner && inner < a_.forest.At(outer).subtree_end;
  }
  std::string_view NameOfNode(std::int64_t node) const {
    return strings_.View(a_.forest.At(node).name);
  }

  void Add(ChildSegment segment, std::string_view kind, std::string_view name, Interval time,
           std::int64_t count = 1) {
    pieces_.push_back({{segment, kind, name, count}, time});
  }

  // What of `span` none of `covered` covers.
  void AddRest(ChildSegment segment, std::string_view name, const Interval& span,
               std::vector<Interval> covered);

  // The outermost nodes of the call's thread that start within `span`, without those that hold
  // `inner`, which are looked into.
  template <typename OnNode>
  void ForEachNode(const Interval& span, std::int64_t inner, OnNode on_node) const {
    std::int64_t at = a_.forest.FirstFrom(call_.track, span.begin);
    const std::int64_t end = a_.forest.EndOf(call_.track);
    while (at < end && a_.forest.At(at).start < span.end) {
      const HostNode& node = a_.forest.At(at);
      const bool looked_into =
          at == parts_.found.node || at == parts_.found.run || Encloses(at, inner);
      if (!looked_into) on_node(at, Interval{node.start, std::min(node.end, span.end)});
      at = looked_into ? at + 1 : node.subtree_end;
    }
  }

  void AddPlatform();

  void AddRuntime(ChildSegment segment, std::string_view kind, std::size_t row,
                  const Interval& span, std::string_view name = {}) {
    if (name.empty()) name = strings_.View(a_.runtime.Table().name[row]);
    Add(segment, kind, name, {a_.runtime.Start(row), std::min(a_.runtime.End(row), span.end)});
  }

  void AddPython();

  void AddCpp();

  void AddSync(ChildSegment segment, const Interval& span);

  // The largest gap is a wait for eager operators when the thread that launches these was busy for
  // at least half of it.
  void AddQueueDrain(const std::vector<Piece>& gaps);

  // Where the execution of the graph belongs.
  ChildSegment GraphSegment() const {
    return call_.Replays() ? ChildSegment::kReplay : ChildSegment::kGe;
  }
  void AddGe();
  void AddGeRow(std::size_t row, const Interval& span, bool nested);
  // An execution without what it calls.
  void AddOwnTime(std::size_t row, const Interval& span);
  void AddEpilogue();
  void AddOutputs(std::int64_t node, const Interval& time);

  // One child for each segment, kind and name, with the time that its pieces cover together.
  std::vector<Child> Joined();

  const ChildFinder& finder_;
  const HeadAnalysis& a_;
  const StringPool& strings_;
  const Call& call_;
  const CallParts& parts_;
  std::vector<Piece> pieces_;
};

}  // namespace mpa::head
