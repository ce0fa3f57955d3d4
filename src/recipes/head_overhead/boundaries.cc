// SPDX-License-Identifier: Apache-2.0
// The points in time at which a compiled call passes from one owner to the next.
#include "boundaries.h"

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

}  // namespace mpa::head
