// SPDX-License-Identifier: Apache-2.0
// Calls of graphs: how they are named and found.
#include "call.h"

#include <algorithm>

#include "segments.h"

namespace mpa::head {
namespace {

std::size_t PositionOf(Flag flag) {
  std::size_t bit = 0;
  while ((static_cast<unsigned>(flag) >> bit) != 1) ++bit;
  return bit;
}

}  // namespace

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

std::string_view NameOf(Flag flag) {
  constexpr std::string_view kNames[kFlags] = {
      "NO_PYTORCH_EVENT", "TORCHAIR_FROM_REGION", "NO_PYTHON_EVENT", "GE_FROM_CANN",
      "GE_FROM_ASSEMBLE", "NO_CPP_EVENT",         "GAP_CLIPPED",     "CLOCK_SKEW",
      "DEVICE_WAS_BUSY",  "CUT_AT_BEGIN",         "CUT_AT_END"};
  return kNames[PositionOf(flag)];
}

std::string_view MeaningOf(Flag flag) {
  constexpr std::string_view kMeanings[kFlags] = {
      "no event of PyTorch, its time is in the platform's",
      "TorchAir begins where the compiled region does, it has no event of its own",
      "no event of TorchAir's Python, its time is in the platform's",
      "GE begins with its first call of CANN, a little late",
      "GE begins where the outputs are bound, early",
      "no event of TorchAir's C++, its time is in the Python's",
      "a long wait before the call is left out",
      "the clocks of host and device disagree, the first kernel is not known",
      "the device was busy, so the host did not delay the first kernel",
      "cut by the begin of the capture, in no sum",
      "cut by the end of the capture, in no sum"};
  return kMeanings[PositionOf(flag)];
}

std::string FlagText(const Call& call) {
  std::string text;
  for (int bit = 0; bit < kFlags; ++bit) {
    const auto flag = static_cast<Flag>(1u << bit);
    if (!call.Has(flag)) continue;
    if (!text.empty()) text += '|';
    text += NameOf(flag);
  }
  return text;
}

namespace {

class Walk {
 public:
  explicit Walk(const HostForest& forest) : forest_(forest) {
    anchors_before_.reserve(forest.Nodes().size() + 1);
    std::int64_t anchors = 0;
    for (const HostNode& node : forest.Nodes()) {
      anchors_before_.push_back(anchors);
      if (node.event == HostEvent::kCompiledCall) ++anchors;
    }
    anchors_before_.push_back(anchors);
  }

  std::vector<FoundCall> Calls() {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(forest_.Nodes().size()); ++i) {
      while (!open_.empty() && forest_.At(calls_[open_.back()].node).subtree_end <= i) {
        open_.pop_back();
      }
      Visit(i);
    }
    return std::move(calls_);
  }

 private:
  FoundCall* Owner() { return open_.empty() ? nullptr : &calls_[open_.back()]; }

  FoundCall& Open(CallKind kind, std::int64_t node) {
    const std::int64_t parent = open_.empty() ? -1 : static_cast<std::int64_t>(open_.back());
    open_.push_back(calls_.size());
    calls_.push_back({.kind = kind, .parent = parent, .node = node});
    return calls_.back();
  }

  // The event belongs to the call around it, or is all that is left of a call.
  void Assign(std::int64_t FoundCall::*part, std::int64_t node, CallKind alone) {
    FoundCall* owner = Owner();
    if (owner == nullptr) owner = &Open(alone, node);
    if (owner->*part == HostNode::kNone) owner->*part = node;
  }

  bool HoldsAnchor(std::int64_t node) const {
    const auto end = static_cast<std::size_t>(forest_.At(node).subtree_end);
    return anchors_before_[end] > anchors_before_[static_cast<std::size_t>(node)];
  }

  void Visit(std::int64_t i) {
    const HostNode& node = forest_.At(i);
    switch (node.event) {
      case HostEvent::kCompiledCall:
        Open(CallKind::kA1, i);
        break;
      case HostEvent::kCachedCall:
        if (!HoldsAnchor(i)) Open(CallKind::kA2, i);
        break;
      case HostEvent::kRun:
        Assign(&FoundCall::run, i, CallKind::kA3);
        break;
      case HostEvent::kGraphExecution:
        Assign(&FoundCall::execution, i, CallKind::kA4);
        break;
      case HostEvent::kReplay:
        Assign(&FoundCall::replay, i, CallKind::kA5);
        break;
      case HostEvent::kEagerRun:
        Assign(&FoundCall::eager_run, i, CallKind::kA5);
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
    FoundCall* owner = Owner();
    if (owner == nullptr) return;
    const HostNode& node = forest_.At(i);
    owner->assembled = std::max(owner->assembled.value_or(node.end), node.end);
    if (node.event == HostEvent::kAssembleInputs && owner->assemble_inputs == HostNode::kNone) {
      owner->assemble_inputs = i;
    }
  }

  const HostForest& forest_;
  std::vector<std::int64_t> anchors_before_;  // of each node: anchors among the nodes before it
  std::vector<FoundCall> calls_;
  std::vector<std::size_t> open_;
};

}  // namespace

std::vector<FoundCall> FindCalls(const HostForest& forest) { return Walk(forest).Calls(); }

}  // namespace mpa::head
