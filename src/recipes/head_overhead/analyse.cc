// SPDX-License-Identifier: Apache-2.0
// From the events of a rank to its calls of compiled graphs with all their numbers.
#include "analyse.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "device_timeline.h"
#include "head_part.h"
#include "segments.h"

namespace mpa::head {
namespace {

constexpr TimeNs kCutMargin = 1'000'000;  // closer to an end of the capture a call may be cut

class Analyser {
 public:
  Analyser(const RankTrace& trace, const HeadOptions& options, HeadAnalysis& analysis)
      : trace_(trace), options_(options), a_(analysis), eager_(trace, analysis) {}

  void Run() {
    FindFramedCalls();
    FindRuntimeParts(a_.forest, a_.runtime, a_.parts);
    const std::vector<std::size_t> lone = FindLoneExecutions(a_.forest, a_.runtime, a_.parts);
    for (std::size_t i = 0; i < a_.calls.size(); ++i) {
      a_.calls[i].engine =
          EngineOf(trace_, a_.forest, a_.runtime, a_.parts[i], eager_.Runs(a_.parts[i].found));
    }
    for (const std::size_t row : lone) AddLoneExecution(row);
    FindKernels();
    const MarkedEvents marked(a_.forest);
    for (std::size_t i = 0; i < a_.calls.size(); ++i) {
      if (a_.calls[i].KnowsHead()) Measure(marked, i);
    }
    a_.graphs = NameGraphs(trace_, a_.forest, a_.runtime, a_.parts, a_.calls);
    MarkCutCalls();
    if (options_.step) KeepStep(*options_.step);
  }

 private:
  // Tells calls whose graph runs operator by operator.
  class EagerRuns {
   public:
    EagerRuns(const RankTrace& trace, const HeadAnalysis& analysis)
        : trace_(trace), forest_(analysis.forest), runtime_(analysis.runtime) {
      const QueuedWork& work = trace.queued_work;
      for (std::size_t i = 0; i < work.Size(); ++i) {
        queued_[work.queued_track[i]].push_back(work.queued[i]);
      }
      for (auto& [track, times] : queued_) std::sort(times.begin(), times.end());
    }

    bool Runs(const FoundCall& call) const {
      if (call.eager_run != HostNode::kNone) return true;
      const bool anchored = call.kind == CallKind::kA1 || call.kind == CallKind::kA2;
      return anchored && call.run == HostNode::kNone && call.execution == HostNode::kNone &&
             call.replay == HostNode::kNone && HasOperators(call.node) &&
             Queues(forest_.At(call.node)) && !Replays(forest_.At(call.node));
    }

   private:
    bool HasOperators(std::int64_t node) const {
      for (std::int64_t i = node + 1; i < forest_.At(node).subtree_end; ++i) {
        const std::string_view name = trace_.strings.View(forest_.At(i).name);
        if (name.starts_with("aten::") || name.starts_with("npu::")) return true;
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

    bool Replays(const HostNode& node) const {
      const auto rows = runtime_.Starting(node.track, node.start, node.end);
      return std::any_of(rows.begin(), rows.end(), [&](std::size_t row) {
        return runtime_.Meaning(row) == RuntimeCall::kReplay;
      });
    }

    const RankTrace& trace_;
    const HostForest& forest_;
    const RuntimeCalls& runtime_;
    std::map<std::int32_t, std::vector<TimeNs>> queued_;
  };

  void FindFramedCalls() {
    const std::vector<FoundCall> found = FindCalls(a_.forest);
    std::vector<bool> is_call(a_.forest.Nodes().size(), false);
    for (const FoundCall& call : found) is_call[static_cast<std::size_t>(call.node)] = true;
    begin_.reserve(found.size());
    std::map<std::int32_t, TimeNs> last_end;         // of the threads' outermost calls
    std::vector<MaybeNs> last_nested(found.size());  // end of the last call within each
    for (std::size_t i = 0; i < found.size(); ++i) {
      const HostNode& node = a_.forest.At(found[i].node);
      const auto step = a_.steps.OfHostTime(node.start);
      MaybeNs begin;
      if (found[i].parent >= 0) {
        const auto parent = static_cast<std::size_t>(found[i].parent);
        begin = std::max(last_nested[parent].value_or(a_.calls[parent].t1), a_.calls[parent].t1);
        last_nested[parent] = node.end;
      } else {
        const auto [last, is_first] = last_end.try_emplace(node.track, node.end);
        if (!is_first) begin = last->second;
        if (step) {
          const TimeNs step_begin = a_.steps.HostBegin(*step);
          begin = std::max(begin.value_or(step_begin), step_begin);
        }
        last->second = node.end;
      }
      begin_.push_back(begin);
      AddCall(
          found[i],
          FindBoundaries(a_.forest, a_.runtime, found[i], begin, is_call, eager_.Runs(found[i])),
          step);
    }
  }

  void AddCall(const FoundCall& found, const Boundaries& bounds, std::optional<std::size_t> step) {
    Call call;
    call.kind = found.kind;
    call.parent = found.parent;
    call.flags = bounds.flags;
    call.track = a_.forest.At(found.node).track;
    call.e0 = bounds.e0;
    call.t1 = bounds.t1;
    call.t2 = bounds.t2;
    call.t3 = bounds.t3;
    call.t4 = bounds.t4;
    Add(call, {.found = found, .bounds = bounds}, step);
  }

  void AddLoneExecution(std::size_t row) {
    Call call;
    call.kind = CallKind::kA6;
    const bool replay = a_.runtime.Meaning(row) == RuntimeCall::kReplay;
    call.engine = replay ? Engine::kAclGraph : Engine::kGe;
    call.track = a_.runtime.Table().track[row];
    call.t3 = a_.runtime.Start(row);
    CallParts parts;
    parts.execute = row;
    begin_.push_back(std::nullopt);
    Add(call, parts, a_.steps.OfHostTime(*call.t3));
  }

  void Add(Call& call, CallParts parts, std::optional<std::size_t> step) {
    call.step = step ? a_.steps.Id(*step) : -1;
    call.pid = trace_.tracks.pid[static_cast<std::size_t>(call.track)];
    call.tid = trace_.tracks.tid[static_cast<std::size_t>(call.track)];
    if (const DeviceTimeline* device = a_.devices.Of(call.pid)) call.device = device->Device();
    a_.calls.push_back(call);
    a_.parts.push_back(std::move(parts));
  }

  void FindKernels() {
    std::vector<KernelSearch> searches;
    searches.reserve(a_.calls.size());
    for (std::size_t i = 0; i < a_.calls.size(); ++i) {
      const Call& call = a_.calls[i];
      searches.push_back(
          {call.pid, a_.devices.Of(call.pid), call.t3, a_.parts[i].launches, a_.parts[i].execute});
    }
    const std::vector<FirstKernel> kernels = FindFirstKernels(trace_, a_.runtime, searches);
    for (std::size_t i = 0; i < a_.calls.size(); ++i) {
      Call& call = a_.calls[i];
      call.first_task = kernels[i].task;
      call.first_kernel = kernels[i].kernel;
      call.task_source = kernels[i].task_source;
      call.kernel_source = kernels[i].kernel_source;
      call.launches = static_cast<std::int64_t>(a_.parts[i].launches.size());
      if (kernels[i].skewed) call.Set(Flag::kClockSkew);
    }
  }

  TimeNs WindowBegin(std::size_t i) {
    Call& call = a_.calls[i];
    const auto step = a_.steps.OfHostTime(a_.forest.At(a_.parts[i].found.node).start);
    if (options_.policy == Policy::kEntry || !begin_[i]) return call.e0;
    const bool first_of_step =
        step && call.parent < 0 && seen_.emplace(call.track, call.step).second;
    if (options_.policy == Policy::kStep && first_of_step) return a_.steps.HostBegin(*step);
    TimeNs begin = *begin_[i];
    if (!step && call.parent < 0 && call.e0 - begin > options_.max_gap) {
      begin = call.e0;
      call.Set(Flag::kGapClipped);
    }
    const DeviceTimeline* device = a_.devices.Of(call.pid);
    if (options_.policy == Policy::kDeviceIdle && device != nullptr && call.first_task) {
      begin = std::clamp(device->LastBusyBefore(*call.first_task).value_or(begin), begin, call.t4);
    }
    return begin;
  }

  void Measure(const MarkedEvents& marked, std::size_t i) {
    Call& call = a_.calls[i];
    call.w0 = WindowBegin(i);
    MeasureSegments(a_.forest, a_.runtime, marked, a_.parts[i].found, a_.parts[i].bounds, call);
    if (const DeviceTimeline* device = a_.devices.Of(call.pid)) {
      MeasureExposure(*device, a_.runtime, marked, call);
    }
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
      if (call.kind != CallKind::kA3 && call.kind != CallKind::kA4 && call.kind != CallKind::kA5) {
        continue;
      }
      const HostNode& node = a_.forest.At(a_.parts[i].found.node);
      if (node.start - first < kCutMargin) call.Set(Flag::kPartialHead);
      // The last event that was recorded does not end the capture, but an execution is always in a
      // run, which then was still open.
      const bool was_open = knows_end || call.kind == CallKind::kA4;
      if (was_open && last - node.end < kCutMargin) call.Set(Flag::kPartialTail);
    }
  }

  void KeepStep(std::int32_t step) {
    std::vector<std::int64_t> position(a_.calls.size(), -1);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < a_.calls.size(); ++i) {
      if (a_.calls[i].step != step) continue;
      position[i] = static_cast<std::int64_t>(kept);
      a_.calls[kept] = a_.calls[i];
      a_.parts[kept] = std::move(a_.parts[i]);
      std::int64_t& parent = a_.calls[kept].parent;
      if (parent >= 0) parent = position[static_cast<std::size_t>(parent)];
      ++kept;
    }
    a_.calls.resize(kept);
    a_.parts.resize(kept);
  }

  const RankTrace& trace_;
  const HeadOptions& options_;
  HeadAnalysis& a_;
  EagerRuns eager_;
  std::vector<MaybeNs> begin_;  // of each call: nothing earlier belongs to it
  std::set<std::pair<std::int32_t, std::int32_t>> seen_;  // threads and steps
};

}  // namespace

HeadAnalysis::HeadAnalysis(const RankTrace& trace, const HeadOptions& options)
    : forest(trace), runtime(trace), devices(trace), steps(trace.steps) {
  Analyser(trace, options, *this).Run();
}

CaptureFacts FactsOf(const RankTrace& trace, const HostForest& forest) {
  CaptureFacts facts{.source = trace.source,
                     .level = trace.profiler_level,
                     .framework_events = trace.host_ops.Size(),
                     .runtime_calls = trace.host_calls.Size(),
                     .device_runs = trace.device_runs.Size(),
                     .threads = {},
                     .steps = trace.steps.Size(),
                     .overhangs = forest.Overhangs(),
                     .too_deep = forest.TooDeep(),
                     .has_ge_api = false,
                     .of_gpu = trace.device == DeviceKind::kGpu};
  std::vector<bool> seen(trace.tracks.Size(), false);
  for (const std::int32_t track : trace.host_ops.track)
    seen[static_cast<std::size_t>(track)] = true;
  for (std::size_t track = 0; track < seen.size(); ++track) {
    if (seen[track]) facts.threads.push_back(trace.tracks.tid[track]);
  }
  std::sort(facts.threads.begin(), facts.threads.end());
  for (const StringId name : trace.host_calls.name) {
    const std::string_view text = trace.strings.View(name);
    facts.has_ge_api = facts.has_ge_api || text == "Node@InferShape" || text == "Node@Tiling" ||
                       text.starts_with("Node@Compatible");
  }
  return facts;
}

}  // namespace mpa::head
