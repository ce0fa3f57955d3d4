// SPDX-License-Identifier: Apache-2.0
// Calls of graphs: how they are named and found.
#include "call.h"

#include <algorithm>

#include "analyse.h"

namespace mpa::head {

std::string_view NameOf(CallKind kind) {
  constexpr std::string_view kNames[] = {"compiled_call",   "cached_call",  "run_alone",
                                         "execution_alone", "replay_alone", "runtime_alone"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view NameOf(Engine engine) {
  constexpr std::string_view kNames[] = {"GE_STATIC", "GE_DYNAMIC", "GE",
                                         "ACLGRAPH",  "EAGER_FX",   "UNKNOWN"};
  return kNames[static_cast<std::size_t>(engine)];
}

std::string_view NameOf(Phase phase) { return phase == Phase::kSteady ? "steady" : "compile"; }

std::string_view NameOf(KernelSource source) {
  constexpr std::string_view kNames[] = {"", "launch", "iteration", "model_fifo", "time"};
  return kNames[static_cast<std::size_t>(source)];
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
        Open(CallKind::kA1, i);
        break;
      case HostEvent::kCachedCall:
        if (!HoldsAnchor(i)) Open(CallKind::kA2, i);
        break;
      case HostEvent::kRun:
        Assign(&CallParts::run, i, CallKind::kA3);
        break;
      case HostEvent::kGraphExecution:
        Assign(&CallParts::execution, i, CallKind::kA4);
        break;
      case HostEvent::kReplay:
        Assign(&CallParts::replay, i, CallKind::kA5);
        break;
      case HostEvent::kEagerRun:
        Assign(&CallParts::eager_run, i, CallKind::kA5);
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

}  // namespace mpa::head
