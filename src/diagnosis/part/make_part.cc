// SPDX-License-Identifier: Apache-2.0
// What a rank keeps for the diagnosis of the job.
#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mpa/base/parallel.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/part/part.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/collectives.h"
#include "mpa/measure/graph_replays.h"
#include "mpa/measure/host_places.h"
#include "mpa/measure/host_timeline.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/measure/memory_totals.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/op_tree.h"
#include "mpa/measure/serving_steps.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/step_bounds.h"
#include "part_facts.h"

namespace mpa {
namespace {

class PartMaker {
 public:
  PartMaker(const RankTrace& trace, bool explains)
      : trace_(trace),
        explains_(explains),
        names_(part_.names),
        timeline_(trace),
        steps_(trace.steps) {}

  RankDiagnosis Make() && {
    part_.source = trace_.device == DeviceKind::kGpu ? kGpuSource : trace_.source;
    part_.level = trace_.profiler_level;
    part_.capture = trace_.capture_path;
    part_.has_calls = !trace_.host_calls.Empty() ||
                      (trace_.device == DeviceKind::kGpu && HasHostOps(IsRuntimeCall));
    part_.breaks_off = trace_.issues.Contains(kTraceBreaksOff);
    part_.has_stacks =
        HasPython() || HasOpStacks() || trace_.job.settings.contains("profiler.stack");
    part_.has_host_ops = part_.has_stacks || HasHostOps([](std::string_view name) {
                           return !IsRuntimeCall(name) && !IsStepMark(name);
                         });
    part_.has_shapes = trace_.device == DeviceKind::kGpu &&
                       std::ranges::any_of(trace_.host_ops.shapes, [&](StringId shapes) {
                         return !ListedShapes(View(shapes)).empty();
                       });
    part_.is_compiled = RunsCompiledCode(trace_);
    part_.trains = !part_.has_host_ops || HasHostOps(IsOfBackward) || HasKernelsOfGradients();
    part_.knows_garbage =
        !trace_.garbage_collections.Empty() || trace_.job.settings.contains("profiler.gc");
    part_.knows_system_calls = !trace_.system_calls.Empty();
    part_.knows_locks = !trace_.lock_uses.Empty();
    AddSteps();
    std::vector<HostStretch> stretches;
    part_.graph = BuildRankGraph(trace_, account_.clock.offset, stretches);
    stretches.shrink_to_fit();
    // Independent of each other: the last rank of a job to be read has idle cores beside it.
    const std::array<std::function<void()>, 3> pieces = {
        [&] {
          if (!part_.knows_garbage) part_.gaps = FindSilentGaps(trace_, timeline_, stretches);
        },
        [&] {
          const CallSites sites(trace_, account_.clock);
          AddShares(trace_, timeline_, sites, stretches, names_, part_);
          AddThreadWaits(trace_, stretches, names_, part_);
          AddCountedCalls(trace_, stretches, names_, part_);
          AddBlocked(sites);
          if (explains_) FindOrigins(trace_, account_.clock.offset, sites, names_, part_);
          FindKernelOperators(trace_, names_, part_);
          NameKernels(trace_, names_, part_);
          AddLaunches(trace_, steps_, part_);
        },
        [&] {
          part_.analyzers = MakeAnalyzerRows(trace_);
          part_.counts_links = CountsLinks(trace_);
          if (part_.counts_links) part_.full_links = FullLinksOf(trace_, WindowOfSteps());
          part_.roofline = RooflineOf(trace_);
        }};
    ParallelFor(pieces.size(), [&](std::size_t piece) { pieces[piece](); });
    if (steps_.Count() == 0) MarkStartUp(part_);
    AddOperations();
    AddMemory();
    part_.settings = trace_.job.settings;
    part_.chip = trace_.job.chip;
    part_.host = trace_.job.host_uid.empty() ? trace_.job.host_name : trace_.job.host_uid;
    SumUp(part_);
    // Of many ranks, what was reserved in vain adds up.
    part_.graph.nodes.shrink_to_fit();
    part_.graph.edges.shrink_to_fit();
    part_.shares.shrink_to_fit();
    return std::move(part_);
  }

 private:
  std::string_view View(StringId text) const { return trace_.strings.View(text); }

  // Traces of GPUs list the calls of the runtime among the operators.
  bool HasHostOps(bool (*is_one)(std::string_view name)) const {
    const HostOps& ops = trace_.host_ops;
    for (std::size_t i = 0; i < ops.Size(); ++i) {
      if (ops.replayed[i] == 0 && is_one(View(ops.name[i]))) return true;
    }
    return false;
  }

  // Old traces of GPUs keep stacks with the operators, and no calls of Python.
  bool HasOpStacks() const {
    return trace_.device == DeviceKind::kGpu &&
           std::ranges::any_of(trace_.host_ops.stack, [&](StringId stack) {
             return !IsOneOf(View(stack), {"", "N/A"});
           });
  }

  // What the framework runs for gradients alone.
  static bool IsOfBackward(std::string_view name) {
    return ContainsAny(
        name, {"autograd::engine", "Backward", "backward", "AccumulateGrad", "Optimizer."});
  }

  bool HasKernelsOfGradients() const {
    NamedClasses<bool> grads(trace_.strings, [](std::string_view name) {
      return ContainsAny(name, {"Grad", "grad", "Backward", "backward", "_bwd"});
    });
    return std::ranges::any_of(trace_.kernels.name, [&](StringId name) { return grads.Of(name); });
  }

  // Functions that the run itself called, not the capture of a graph.
  bool HasPython() const {
    const PythonCalls& calls = trace_.python_calls;
    const ReplayedCalls replayed(trace_);
    for (std::size_t i = 0; i < calls.Size(); ++i) {
      if (!replayed.Contain(calls.track[i], calls.start[i], calls.start[i] + calls.dur[i]))
        return true;
    }
    return false;
  }

  void AddSteps() {
    account_ = AccountRank(trace_, timeline_, {});
    if (account_.steps.empty()) part_.host_alone = HostAloneOf(trace_, timeline_);
    part_.earlier = account_.earlier;
    const std::vector<ServingBatch> batches = BatchesOfSteps(trace_);
    for (const StepAccount& step : account_.steps) {
      const std::size_t number = part_.steps.size();
      StepPart& part = part_.steps.emplace_back();
      if (number < batches.size()) part.batch = batches[number];
      part.id = step.id;
      part.begin = step.window.begin;
      part.end = step.window.end;
      for (std::size_t category = 0; category < kTimeCategories; ++category)
        part.categories.push_back(step.categories[static_cast<TimeCategory>(category)]);
      for (const Piece& piece : account_.PiecesOf(step)) {
        if (piece.category == TimeCategory::kUnsplit)
          part.unsplit.push_back({static_cast<std::uint32_t>(piece.row), piece.begin, piece.end});
      }
    }
    std::vector<Piece>().swap(account_.pieces);  // many, of which nothing else is needed
  }

  // While the device did what was launched before the capture, no step waited.
  void WithoutEarlierWork(BlockedPart& part) const {
    if (account_.earlier.time == 0) return;
    const TimeNs opens = account_.steps.front().window.begin + account_.clock.offset;
    const TimeNs waited = std::clamp<TimeNs>(opens - part.start, 0, part.dur);
    part.start += waited;
    part.dur -= waited;
  }

  void AddBlocked(const CallSites& sites) {
    std::optional<Nesting> made;
    if (sites.Ops() == nullptr) made.emplace(OpSpans(trace_));
    const Nesting& ops = made ? *made : *sites.Ops();
    for (const BlockedCall& blocked : part_.graph.blocked) {
      BlockedPart& part = part_.blocked.emplace_back();
      part.edge = blocked.edge;
      part.own_edge = blocked.own_edge;
      part.own = blocked.own;
      part.name = names_.Of(View(blocked.name));
      part.start = blocked.begin;
      part.dur = blocked.dur;
      part.category = TimeCategory::kExplicitSync;
      timeline_.Walk(
          blocked.track, part.start, part.start + 1,
          [&](const HostPiece& piece) { part.category = piece.category; }, [](TimeNs, TimeNs) {});
      if (blocked.is_op)
        part.category = View(blocked.name) == "aten::copy_" ? TimeCategory::kHostCopy
                                                            : TimeCategory::kScalarSync;
      std::int64_t op = ops.FindEnclosing({part.start, part.start + part.dur, blocked.track});
      while (op != Nesting::kNone &&
             IsRuntimeCall(View(trace_.host_ops.name[static_cast<std::size_t>(op)])))
        op = ops.Parent(static_cast<std::size_t>(op));
      part.place = op == Nesting::kNone
                       ? names_.Of("")
                       : names_.Of(View(trace_.host_ops.name[static_cast<std::size_t>(op)]));
      if (op != Nesting::kNone && part.category == TimeCategory::kExplicitSync &&
          Allocates(ops.At(static_cast<std::size_t>(op)),
                    View(trace_.host_ops.name[static_cast<std::size_t>(op)]))) {
        part.category = TimeCategory::kMemory;
      }
      // Nothing is copied to or from the host then.
      const GraphNode& awaited = part_.graph.nodes[part_.graph.edges[part.edge].on];
      if (part.category == TimeCategory::kHostCopy && awaited.category == TimeCategory::kCopyDevice)
        part.category = TimeCategory::kExplicitSync;
      part.line = names_.Of(sites.At({part.start, part.start + part.dur, blocked.track}));
      WithoutEarlierWork(part);
      const auto step = steps_.OfHostTime(part.start);
      part.step = step ? static_cast<std::int32_t>(*step) : steps_.Count() == 0 ? 0 : -1;
    }
  }

  // An operator that synchronises and frees memory makes room for an allocation. A range of the
  // program may do both for reasons of its own.
  bool Allocates(const NestSpan& op, std::string_view name) const {
    if (name.find("::") == std::string_view::npos) return false;
    TimeNs memory = 0;
    timeline_.Walk(
        op.track, op.start, op.end,
        [&](const HostPiece& piece) {
          if (piece.category == TimeCategory::kMemory) memory += piece.end - piece.begin;
        },
        [](TimeNs, TimeNs) {});
    return memory > 0;
  }

  // Reports come when something changes: a step without one ends as the one before.
  void AddMemoryOfSteps(const std::vector<MemoryTotals::Total>& totals) {
    for (std::size_t step = 0; step < std::min(steps_.Count(), part_.steps.size()); ++step) {
      const auto behind =
          std::ranges::upper_bound(totals, steps_.HostEnd(step), {}, &MemoryTotals::Total::time);
      if (behind == totals.begin()) continue;
      const MemoryTotals::Total& last = *(behind - 1);
      if (IsSize(last.allocated) && IsSize(last.reserved))
        part_.steps[step].memory = {last.allocated, last.allocated, last.reserved};
    }
    for (const MemoryTotals::Total& total : totals) {
      const auto step = steps_.OfHostTime(total.time);
      if (!step || *step >= part_.steps.size() || !IsSize(total.allocated)) continue;
      std::int64_t& most = part_.steps[*step].memory.most_allocated;
      if (most >= 0) most = std::max(most, total.allocated);
    }
  }

  Interval WindowOfSteps() const {
    if (part_.steps.empty()) return {};
    return {part_.steps.front().begin, part_.steps.back().end};
  }

  // What the device told, beside what the allocators did.
  void AddDeviceMemory(const MemoryTotals& totals) {
    DeviceMemoryTold told = DeviceMemoryOf(trace_, WindowOfSteps());
    part_.memory.others = std::max<std::int64_t>(told.others, 0);
    part_.memory.components = std::move(told.components);
    for (const auto& [time, bytes] : told.process) {
      const std::int64_t reserved = totals.ReservedAt(time);
      if (reserved >= 0) part_.memory.outside = std::max(part_.memory.outside, bytes - reserved);
    }
    for (std::size_t step = 0; step < std::min(steps_.Count(), part_.steps.size()); ++step)
      part_.steps[step].memory.process = told.ProcessAt(steps_.HostEnd(step));
  }

  void AddMemory() {
    const MemoryTotals totals(trace_);
    part_.memory.peak = std::max<std::int64_t>(totals.MostReserved(), 0);
    AddMemoryOfSteps(totals.All());
    AddDeviceMemory(totals);
    const MemorySamples& samples = trace_.memory_samples;
    for (std::size_t i = 0; i < samples.Size(); ++i) {
      if (samples.allocated_bytes[i] <= 0 || samples.reserved_bytes[i] <= part_.memory.pool)
        continue;
      part_.memory.pool = samples.reserved_bytes[i];
      part_.memory.allocated = samples.allocated_bytes[i];
    }
  }

  // Members also wait for signals of each other, which takes them but a moment: some us, so that
  // what is longer is a wait for a peer that is slow.
  static void AddPhases(const std::vector<CollectivePhase>& phases, OperationPart& part) {
    constexpr TimeNs kMaxSignal = 20'000;
    for (const CollectivePhase& phase : phases) {
      const TimeNs time = phase.end - phase.begin;
      if (phase.category == TimeCategory::kTransfer) part.moved += time;
      if (phase.category == TimeCategory::kInnerIdle) part.idle += time;
      if (phase.category == TimeCategory::kInnerWait)
        (time > kMaxSignal ? part.held_up : part.idle) += time;
    }
  }

  void AddOperations() {
    std::unordered_map<std::int32_t, std::uint32_t> number;  // by row of the communications
    const Communications& rows = trace_.communications;
    const CollectiveParts tasks(trace_);
    const std::vector<LastArrival> arrivals = OwnLastArrivals(trace_, tasks);
    for (const RankCollective& collective : part_.graph.collectives) {
      const auto row = static_cast<std::size_t>(collective.row);
      number[collective.row] = static_cast<std::uint32_t>(part_.operations.size());
      OperationPart& part = part_.operations.emplace_back();
      part.group =
          names_.Of(rows.group[row] < 0
                        ? ""
                        : View(trace_.comm_groups.name[static_cast<std::size_t>(rows.group[row])]));
      part.name = names_.Of(View(rows.name[row]));
      part.kind = names_.Of(CollectiveKindOf(trace_, row));
      part.step = part_.graph.nodes[collective.arrive].step;
      part.start = rows.start[row];
      part.dur = rows.dur[row];
      part.bytes = BytesOfElements(rows.count[row], View(rows.data_type[row])).value_or(0);
      AddPhases(PhasesOf({part.start, part.start + part.dur}, arrivals[row], tasks.Of(row),
                         IsReceive(trace_, row), kArrivalTolerance, 0),
                part);
    }
    part_.collectives = CollectivesOfRank(trace_);
    for (RankRuns::Row& row : part_.collectives.runs.rows) {
      const auto found = number.find(row.operation);
      if (found != number.end()) row.step = part_.IdOfStep(part_.operations[found->second].step);
    }
    AddTransfers(trace_, number, names_, part_);
    for (StepPart& step : part_.steps) NumberUnsplit(number, step.unsplit);
  }

  // Until then they have the rows of the communications.
  static void NumberUnsplit(const std::unordered_map<std::int32_t, std::uint32_t>& number,
                            std::vector<UnsplitPiece>& pieces) {
    std::vector<UnsplitPiece> numbered;
    for (const UnsplitPiece& piece : pieces) {
      const auto found = number.find(static_cast<std::int32_t>(piece.collective));
      if (found != number.end()) numbered.push_back({found->second, piece.begin, piece.end});
    }
    pieces = std::move(numbered);
  }

  const RankTrace& trace_;
  const bool explains_;
  RankDiagnosis part_;
  PartNames names_;
  const HostTimeline timeline_;
  const HostSteps steps_;
  RankAccount account_;
};

}  // namespace

RankDiagnosis MakeRankDiagnosis(const RankTrace& trace, bool explains) {
  return PartMaker(trace, explains).Make();
}

}  // namespace mpa
