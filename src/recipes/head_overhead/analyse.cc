// SPDX-License-Identifier: Apache-2.0
// From the events of a rank to its calls of compiled graphs with all their numbers.
#include "analyse.h"

#include <algorithm>
#include <limits>
#include <set>

#include "head_part.h"

namespace mpa::head {
namespace {

constexpr TimeNs kCutMargin = 1'000'000;  // closer to an end of the capture a call may be cut

// Tells calls whose graph runs operator by operator.
class EagerRuns {
 public:
  explicit EagerRuns(const HeadAnalysis& analysis) : a_(analysis) {
    const QueuedWork& work = a_.trace.queued_work;
    for (std::size_t i = 0; i < work.Size(); ++i) {
      queued_[work.queued_track[i]].push_back(work.queued[i]);
    }
    for (auto& [track, times] : queued_) std::ranges::sort(times);
  }

  bool Runs(CallKind kind, const CallParts& parts) const {
    if (parts.eager_run != HostNode::kNone) return true;
    const bool anchored =
        kind == CallKind::kCompilerInference || kind == CallKind::kCachedInference;
    if (!anchored || parts.run != HostNode::kNone || parts.execution != HostNode::kNone ||
        parts.replay != HostNode::kNone || !HasOperators(parts.node)) {
      return false;
    }
    const HostNode& node = a_.forest.At(parts.node);
    return Queues(node) &&
           !a_.runtime.First(node.track, {node.start, node.end}, RuntimeCall::kReplay);
  }

 private:
  bool HasOperators(std::int64_t node) const {
    for (std::int64_t i = node + 1; i < a_.forest.At(node).subtree_end; ++i) {
      if (IsOperator(a_.trace.strings.View(a_.forest.At(i).name))) return true;
    }
    return false;
  }
  // Whether it queues work. Captures without a queue do not tell.
  bool Queues(const HostNode& node) const {
    if (queued_.empty()) return true;
    const auto times = queued_.find(node.track);
    if (times == queued_.end()) return false;
    const auto first = std::lower_bound(times->second.begin(), times->second.end(), node.start);
    return first != times->second.end() && *first < node.end;
  }

  const HeadAnalysis& a_;
  std::map<std::int32_t, std::vector<TimeNs>> queued_;
};

class Analyser {
 public:
  Analyser(const HeadOptions& options, HeadAnalysis& analysis)
      : trace_(analysis.trace), options_(options), a_(analysis) {}

  void Run() {
    FindFramedCalls();
    const std::vector<std::size_t> lone = FindRuntimeParts(a_);
    for (std::size_t i = 0; i < a_.calls.size(); ++i) {
      a_.calls[i].engine = EngineOf(a_, i, runs_eagerly_[i]);
    }
    for (const std::size_t row : lone) AddLoneExecution(row);
    FindFirstKernels(a_);
    for (std::size_t i = 0; i < a_.calls.size(); ++i) {
      Call& call = a_.calls[i];
      call.launches = static_cast<std::int64_t>(a_.parts[i].launches.size());
      if (call.KnowsHead()) call.frontend_begin = WindowBegin(i);
      MeasureCall(a_, a_.parts[i], call);
    }
    NameGraphs(a_);
    MarkCutCalls();
    Number();
  }

 private:
  void FindFramedCalls() {
    FindCalls(a_);
    const EagerRuns eager(a_);
    std::vector<bool> is_call(a_.forest.Nodes().size(), false);
    for (const CallParts& parts : a_.parts) is_call[static_cast<std::size_t>(parts.node)] = true;
    std::map<std::int32_t, TimeNs> last_end;            // of the threads' outermost calls
    std::vector<MaybeNs> last_nested(a_.calls.size());  // end of the last call within each
    for (std::size_t i = 0; i < a_.calls.size(); ++i) {
      Call& call = a_.calls[i];
      const HostNode& node = a_.forest.At(a_.parts[i].node);
      const auto step = a_.steps.OfHostTime(node.start);
      MaybeNs begin;
      if (call.parent >= 0) {
        const auto parent = static_cast<std::size_t>(call.parent);
        const TimeNs python_begin = a_.calls[parent].python_begin;
        begin = std::max(last_nested[parent].value_or(python_begin), python_begin);
        last_nested[parent] = node.end;
      } else {
        const auto [last, is_first] = last_end.try_emplace(node.track, node.end);
        if (!is_first) begin = last->second;
        if (step)
          begin = std::max(begin.value_or(a_.steps.HostBegin(*step)), a_.steps.HostBegin(*step));
        last->second = node.end;
      }
      begin_.push_back(begin);
      runs_eagerly_.push_back(eager.Runs(call.kind, a_.parts[i]));
      FindBoundaries(a_, begin, is_call, runs_eagerly_[i], a_.parts[i], call);
      SetPlace(node.start, call);
    }
  }

  void AddLoneExecution(std::size_t row) {
    Call& call = a_.calls.emplace_back();
    call.kind = CallKind::kRuntimeOnly;
    const bool replay = a_.runtime.Meaning(row) == RuntimeCall::kReplay;
    call.engine = replay ? Engine::kAclGraph : Engine::kGe;
    call.track = a_.runtime.TrackOf(row);
    call.ge_begin = a_.runtime.Start(row);
    a_.parts.emplace_back().execute = row;
    SetPlace(*call.ge_begin, call);
  }

  void SetPlace(TimeNs time, Call& call) const {
    const auto step = a_.steps.OfHostTime(time);
    call.step = step ? a_.steps.Id(*step) : -1;
    call.pid = trace_.tracks.pid[static_cast<std::size_t>(call.track)];
    call.tid = trace_.tracks.tid[static_cast<std::size_t>(call.track)];
    if (const DeviceTimeline* device = a_.devices.Of(call.pid)) call.device = device->Device();
  }

  TimeNs WindowBegin(std::size_t i) {
    Call& call = a_.calls[i];
    const auto step = a_.steps.OfHostTime(a_.forest.At(a_.parts[i].node).start);
    if (options_.policy == Policy::kEntry || !begin_[i]) return call.entered;
    const bool first_of_step =
        step && call.parent < 0 && seen_.emplace(call.track, call.step).second;
    if (options_.policy == Policy::kStep && first_of_step) return a_.steps.HostBegin(*step);
    TimeNs begin = *begin_[i];
    if (!step && call.parent < 0 && call.entered - begin > options_.max_gap) {
      begin = call.entered;
      call.Set(Flag::kGapClipped);
    }
    const DeviceTimeline* device = a_.devices.Of(call.pid);
    if (options_.policy == Policy::kDeviceIdle && device != nullptr && call.first_task) {
      begin = std::clamp(device->LastBusyBefore(*call.first_task).value_or(begin), begin, call.end);
    }
    return begin;
  }

  // What is left of a call whose outer events were not closed while the profiler ran.
  void MarkCutCalls() {
    const HostOps& ops = trace_.host_ops;
    TimeNs first = std::numeric_limits<TimeNs>::max();
    TimeNs last = std::numeric_limits<TimeNs>::min();
    for (std::size_t i = 0; i < ops.Size(); ++i) {
      first = std::min(first, ops.start[i]);
      last = std::max(last, ops.start[i] + ops.dur[i]);
    }
    if (trace_.session_start >= 0) first = trace_.session_start;
    const bool knows_end = trace_.session_end >= 0;
    if (knows_end) last = trace_.session_end;
    for (std::size_t i = 0; i < a_.calls.size(); ++i) {
      Call& call = a_.calls[i];
      if (call.kind != CallKind::kGraphRun && call.kind != CallKind::kGraphExecution &&
          call.kind != CallKind::kAclGraphReplay) {
        continue;
      }
      const HostNode& node = a_.forest.At(a_.parts[i].node);
      if (node.start - first < kCutMargin) call.Set(Flag::kPartialHead);
      // The last event that was recorded does not end the capture, but an execution is always in a
      // run, which then was still open.
      const bool was_open = knows_end || call.kind == CallKind::kGraphExecution;
      if (was_open && last - node.end < kCutMargin) call.Set(Flag::kPartialTail);
    }
  }

  // Only the calls of one step, if it was chosen.
  void Number() {
    std::vector<std::int64_t> ids(a_.calls.size(), -1);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < a_.calls.size(); ++i) {
      if (options_.step && a_.calls[i].step != *options_.step) continue;
      if (kept != i) {
        a_.calls[kept] = std::move(a_.calls[i]);
        a_.parts[kept] = std::move(a_.parts[i]);
      }
      Call& call = a_.calls[kept];
      call.id = ids[i] = static_cast<std::int64_t>(kept++);
      if (call.parent >= 0) call.parent = ids[static_cast<std::size_t>(call.parent)];
    }
    a_.calls.resize(kept);
    a_.parts.resize(kept);
  }

  const RankTrace& trace_;
  const HeadOptions& options_;
  HeadAnalysis& a_;
  std::vector<MaybeNs> begin_;      // of each call: nothing earlier belongs to it
  std::vector<bool> runs_eagerly_;  // likewise
  std::set<std::pair<std::int32_t, std::int32_t>> seen_;  // threads and steps
};

}  // namespace

HeadAnalysis::HeadAnalysis(const RankTrace& of_rank, const HeadOptions& options)
    : trace(of_rank),
      forest(trace),
      runtime(trace),
      serving(trace),
      devices(trace),
      steps(trace.steps) {
  Analyser(options, *this).Run();
}

CaptureFacts FactsOf(const RankTrace& trace, const HostForest& forest) {
  CaptureFacts facts{.source = trace.source,
                     .level = trace.profiler_level,
                     .framework_events = trace.host_ops.Size(),
                     .runtime_calls = trace.host_calls.Size(),
                     .device_runs = trace.device_runs.Size(),
                     .threads = {},
                     .steps = trace.steps.Size(),
                     .crossings = forest.Crossings(),
                     .too_deep = forest.TooDeep(),
                     .has_ge_api = false,
                     .of_gpu = trace.device == DeviceKind::kGpu};
  std::vector<bool> seen(trace.tracks.Size(), false);
  for (const std::int32_t track : trace.host_ops.track)
    seen[static_cast<std::size_t>(track)] = true;
  for (std::size_t track = 0; track < seen.size(); ++track) {
    if (seen[track]) facts.threads.push_back(trace.tracks.tid[track]);
  }
  std::ranges::sort(facts.threads);
  for (const StringId name : trace.host_calls.name) {
    const std::string_view text = trace.strings.View(name);
    facts.has_ge_api = facts.has_ge_api || text == "Node@InferShape" || text == "Node@Tiling" ||
                       text.starts_with("Node@Compatible");
  }
  return facts;
}

}  // namespace mpa::head
