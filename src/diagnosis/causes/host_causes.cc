// SPDX-License-Identifier: Apache-2.0
// What the hosts of all ranks do that holds up their devices. What single ranks do more than the
// others is a matter of these ranks (rank_causes.cc), so that nothing is taken out twice.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "finder.h"
#include "host_stretches.h"
#include "inputs.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/causes/finding_search.h"

namespace mpa {
namespace {

constexpr Threshold kLoaderNs{"usual_ns", 1'000'000, 0, kMaxTime,
                              "an iterator that takes less than this time per step is normal"},
    kUsualSyncs{"usual_calls", 2, 0, kMaxCalls,
                "this many synchronisations at the end of a step are usual"},
    kCheckpointCopyNs{"least_copy_ns", 20'000, 0, kMaxTime,
                      "shorter copies to the host are single numbers, not a checkpoint"},
    kGapNs{"gap_ns", 20'000'000, 1'000'000, kMaxTime,
           "where collections are not recorded, the host may collect garbage while it records"
           " nothing for this time"};

constexpr MetricInfo kSilentGapsPerStep{"silent_gaps_per_step", "count",
                                        "{} times a step nothing is recorded of the host"};

struct HostCauseOf {
  const FindingType& finding;
  std::vector<TimeCategory> blocks;  ///< of the calls that wait for the device
  bool of_any_rank = false;          ///< rare, and on few ranks by nature: all of it is one cause
};

const std::vector<HostCauseOf>& HostCauseList() {
  static const std::vector<HostCauseOf> causes = {
      {kHostDataloader, {}},
      {kHostH2d, {TimeCategory::kHostCopy}},
      {kHostSync, {TimeCategory::kScalarSync, TimeCategory::kExplicitSync}},
      {kHostCompile, {}},
      {kHostAclop, {}},
      {kHostGc, {}, true},
      {kHostMemory, {TimeCategory::kMemory}},
      {kHostCheckpoint, {TimeCategory::kCheckpoint}, true},
      {kHostSystemCall, {}, true},
      {kHostLock, {}, true},
      {kHostGil, {}, true},
  };
  return causes;
}

// The last calls of a step read its results: loops read the loss and the norm of the gradients.
class UsualCalls {
 public:
  UsualCalls(const RankDiagnosis& part, std::size_t steps, double usual)
      : usual_(Whole(usual)), starts_(steps) {
    for (const BlockedPart& call : part.blocked) {
      if (call.step >= 0 && static_cast<std::size_t>(call.step) < steps)
        starts_[static_cast<std::size_t>(call.step)].push_back(call.start);
    }
    // A call that waits for several streams is there once for each.
    for (auto& starts : starts_) {
      std::ranges::sort(starts);
      starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
    }
  }
  bool Holds(const BlockedPart& call) const {
    const std::vector<TimeNs>& starts = starts_[static_cast<std::size_t>(call.step)];
    return starts.end() - std::upper_bound(starts.begin(), starts.end(), call.start) < usual_;
  }

 private:
  const std::int64_t usual_;
  std::vector<std::vector<TimeNs>> starts_;  // by step
};

class HostCauses : Finder {
 public:
  using Finder::Finder;

  void Find() {
    for (const HostCauseOf& of : HostCauseList()) Add(of);
    AddConjecture();
  }

 private:
  void Add(const HostCauseOf& of) {
    const bool of_syncs = &of.finding == &kHostSync;
    Finding candidate = NewFinding(job_, of.finding);
    Removal& removal = candidate.what_if.expect;
    std::set<RankId> ranks;
    std::set<std::int32_t> steps;
    TimeNs time = 0;
    std::int64_t calls = 0;
    const auto usual = job_.UsualHost(of.finding.categories, of.blocks);
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      std::vector<double> share(job_.steps, 1);
      std::vector<bool> cut(job_.steps, true);
      const bool compares = !of.of_any_rank && job_.RoleOf(rank).size() > 1;
      for (std::size_t step = 0; compares && step < job_.steps; ++step) {
        const HostAmount& normal = usual.at(job_.role[rank])[step];
        const TimeNs own = job_.work[rank][step].HostOf(of.finding.categories, {}).time;
        share[step] = own > 0 ? Share(std::min(own, normal.time), own) : 0;
        cut[step] = normal.blocks > 0;
      }
      const RankDiagnosis& part = job_.Part(rank);
      std::optional<HostStretches> stretches;
      if (of_syncs) stretches.emplace(job_, rank);
      for (const HostShare& row : part.shares) {
        const std::int32_t step = job_.StepOfEdge(rank, row.edge);
        if (step < 0 || row.starts_up || !IsOf(of.finding.categories, row.category)) continue;
        // A program that measures its steps waits at the end of the window by intent.
        if (of_syncs && stretches->IsBehindAll(row)) continue;
        const auto less = static_cast<TimeNs>(share[static_cast<std::size_t>(step)] *
                                              static_cast<double>(row.time));
        if (less <= 0) continue;
        removal.waits.push_back({job_.graph.first_edge[rank] + row.edge, less});
        Note(rank, step, ranks, steps);
        if (static_cast<std::size_t>(step) >= job_.first_step) time += less;
      }
      const bool blocks_launches = BlocksLaunches(job_, rank);
      std::set<std::uint32_t> ends;
      const UsualCalls usual_calls(part, job_.steps, job_.thresholds[kUsualSyncs]);
      for (const BlockedPart& row : part.blocked) {
        if (!job_.Holds(row.step) || !IsOf(of.blocks, row.category)) continue;
        if (!cut[static_cast<std::size_t>(row.step)]) continue;
        if (of_syncs && (usual_calls.Holds(row) || (blocks_launches && row.behind_launch) ||
                         stretches->IsBehindAll(row.edge)))
          continue;
        DropWait(job_, rank, row, removal);
        Note(rank, row.step, ranks, steps);
        // A call that waits for several streams is there once for each.
        const bool is_new = ends.insert(part.graph.edges[row.edge].node).second;
        if (static_cast<std::size_t>(row.step) < job_.first_step || !is_new) continue;
        ++calls;
        AddWait(part, row, candidate.facts);
        // A read of a scalar waits for what the device does anyhow.
        if (!of_syncs) time += row.dur;
      }
      if (of_syncs) RemoveReads(rank, share, removal);
    }
    if (&of.finding == &kHostH2d) RemoveCopies(usual, removal);
    if (&of.finding == &kHostDataloader) NoteLoaders(job_, candidate.facts);
    if (&of.finding == &kHostCheckpoint) RemoveSavedCopies(removal);
    if (removal.waits.empty() && removal.cuts.empty() &&
        (removal.durations.empty() || &of.finding == &kHostH2d))
      return;  // copies for which no host waits do not block
    if (ranks.size() < job_.ranks.size() || of.of_any_rank)
      candidate.ranks.assign(ranks.begin(), ranks.end());
    // Of the ranks that it names.
    const auto count = static_cast<TimeNs>(
        std::max<std::size_t>(1, ranks.empty() ? job_.ranks.size() : ranks.size()));
    if (calls > 0)
      candidate.Measure(kCallsPerStep,
                        Share(calls, static_cast<TimeNs>(job_.CountedSteps()) * count));
    if (time > 0) candidate.Measure(kTimePerStep, PerStep(job_, time) / count);
    if (&of.finding == &kHostH2d) NoteCasts(job_, candidate);
    candidate.steps.assign(steps.begin(), steps.end());
    if (&of.finding == &kHostDataloader &&
        PerStep(job_, time) / count < Whole(job_.thresholds[kLoaderNs])) {
      candidate.kind = FindingKind::kOpportunity;
      candidate.what_if.opportunity = true;
    }
    candidates_.push_back(std::move(candidate));
  }

  // Copies that do not block run beside what is computed. What a rank copies more than its peers is
  // not common to all.
  void RemoveCopies(const std::map<std::int32_t, std::vector<HostAmount>>& usual,
                    Removal& removal) const {
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const bool compares = job_.RoleOf(rank).size() > 1;
      const auto& nodes = job_.Part(rank).graph.nodes;
      std::set<std::uint32_t> awaited;
      for (const BlockedPart& call : job_.Part(rank).blocked)
        awaited.insert(job_.Part(rank).graph.edges[call.edge].on);
      for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].category != TimeCategory::kCopyIn || !job_.Holds(nodes[i].step)) continue;
        if (nodes[i].pinned && !awaited.contains(i)) continue;  // it runs beside the host
        const auto step = static_cast<std::size_t>(nodes[i].step);
        const TimeNs own = job_.work[rank][step].copied_in;
        const TimeNs normal =
            compares ? std::min(own, usual.at(job_.role[rank])[step].copies) : own;
        if (own <= 0 || normal <= 0) continue;
        const auto less =
            static_cast<TimeNs>(static_cast<double>(nodes[i].dur) * Share(normal, own));
        removal.durations.push_back({job_.graph.first_node[rank] + i, less});
      }
    }
  }

  // The copies of the numbers that are read, of steps in which others read them as well. The last
  // ones of a step are usual.
  void RemoveReads(RankIndex rank, const std::vector<double>& share, Removal& removal) const {
    const auto& nodes = job_.Part(rank).graph.nodes;
    std::vector<std::vector<std::uint32_t>> reads(job_.steps);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      const auto step = static_cast<std::size_t>(nodes[i].step);
      if (nodes[i].category != TimeCategory::kCopyOut ||
          nodes[i].dur >= Whole(job_.thresholds[kCheckpointCopyNs]) || nodes[i].step < 0 ||
          step >= job_.steps)
        continue;
      if (share[step] > 0 && job_.work[rank][step].HostOf({TimeCategory::kScalarSync}, {}).time > 0)
        reads[step].push_back(i);
    }
    for (auto& of_step : reads) {
      StableSort(of_step, {}, [&](std::uint32_t a) { return nodes[a].start; });
      const auto usual = static_cast<std::size_t>(Whole(job_.thresholds[kUsualSyncs]));
      for (std::size_t i = 0; i + usual < of_step.size(); ++i)
        DropDeviceWork(job_, rank, of_step[i], removal);
    }
  }

  // What a checkpoint copies from the device; other copies to the host are single numbers.
  void RemoveSavedCopies(Removal& removal) const {
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const auto& nodes = job_.Part(rank).graph.nodes;
      for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        const GraphNode& node = nodes[i];
        if (node.category != TimeCategory::kCopyOut ||
            node.dur < Whole(job_.thresholds[kCheckpointCopyNs]) || !job_.Holds(node.step))
          continue;
        if (job_.work[rank][static_cast<std::size_t>(node.step)]
                .HostOf({TimeCategory::kCheckpoint}, {})
                .time == 0)
          continue;
        DropDeviceWork(job_, rank, i, removal);
      }
    }
  }

  void Note(RankIndex rank, std::int32_t step, std::set<RankId>& ranks,
            std::set<std::int32_t>& steps) const {
    if (static_cast<std::size_t>(step) < job_.first_step) return;
    ranks.insert(job_.ranks[rank].rank);
    const auto& of_rank = job_.Part(rank).steps;
    if (static_cast<std::size_t>(step) < of_rank.size())
      steps.insert(of_rank[static_cast<std::size_t>(step)].id);
  }

  // Collections come at any place of a step, as memory fills up. What stands still once, or at the
  // same place of each step, is what the program does there.
  bool ComesAnywhere(RankIndex rank) const {
    const RankGraph& graph = job_.Part(rank).graph;
    std::map<std::int32_t, std::vector<TimeNs>> issued;  // by step
    for (const GraphNode& node : graph.nodes) {
      if (node.kind == NodeKind::kLaunch || node.kind == NodeKind::kHost)
        issued[node.step].push_back(node.start);
    }
    for (auto& [step, times] : issued) std::ranges::sort(times);
    std::set<std::ptrdiff_t> places;
    for (const SilentGap& gap : job_.Part(rank).gaps) {
      const GraphNode& node = graph.nodes[graph.edges[gap.edge].node];
      if (gap.dur < Whole(job_.thresholds[kGapNs])) continue;
      const std::vector<TimeNs>& times = issued[node.step];
      places.insert(std::ranges::lower_bound(times, node.start) - times.begin());
    }
    return places.size() > 1;
  }

  // Where collections are not recorded: the whole process stood still for long, and the device
  // waited for it. Gaps of a single late rank are handled in rank_causes.cc.
  void AddConjecture() {
    if (std::ranges::any_of(candidates_,
                            [](const Finding& candidate) { return candidate.Is(kHostGc); }))
      return;
    std::set<ReplayGraph::Edge> of_ranks;
    for (const Finding& candidate : candidates_) {
      for (const Removal::Edge& wait : candidate.what_if.expect.waits) of_ranks.insert(wait.edge);
    }
    Finding candidate = NewFinding(job_, kHostGc);
    candidate.confidence = Certainty::kLow;
    std::set<RankId> ranks;
    std::set<std::int32_t> steps;
    TimeNs time = 0;
    std::int64_t gaps = 0;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      if (!ComesAnywhere(rank)) continue;
      for (const SilentGap& gap : job_.Part(rank).gaps) {
        const ReplayGraph::Edge edge = job_.graph.first_edge[rank] + gap.edge;
        const std::int32_t step = job_.StepOfEdge(rank, gap.edge);
        if (gap.dur < Whole(job_.thresholds[kGapNs]) || step < 0 || of_ranks.contains(edge))
          continue;
        candidate.what_if.expect.waits.push_back({edge, gap.dur});
        Note(rank, step, ranks, steps);
        if (static_cast<std::size_t>(step) < job_.first_step) continue;
        time += gap.dur;
        ++gaps;
      }
    }
    // A host that is silent for most of the time is not recorded.
    if (gaps == 0 || 2 * PerStep(job_, time) > job_.step_time * static_cast<TimeNs>(ranks.size()))
      return;
    const auto count = static_cast<double>(job_.CountedSteps() * ranks.size());
    candidate.Measure(kSilentGapsPerStep, static_cast<double>(gaps) / count);
    candidate.Measure(kTimePerStep, static_cast<double>(time) / count);
    candidate.ranks.assign(ranks.begin(), ranks.end());
    candidate.steps.assign(steps.begin(), steps.end());
    candidates_.push_back(std::move(candidate));
  }
};

AdvicePart NoEmptyCache() {
  return {"no empty_cache in the loop", Change("empty_cache in the loop", "none")};
}
bool Serves(const AdviceFacts& facts) { return facts.serves; }
bool DoesNotServe(const AdviceFacts& facts) { return !facts.serves; }
AdvicePart NoReads() {
  return If(DoesNotServe, {"no .item(), nonzero or printing of tensors in the loop",
                           Change("scalar reads and synchronisations in the loop", "none")});
}
AdvicePart ReadTokensOnce() {
  return If(Serves, {"sample on the device, and read the tokens once a step",
                     Change("reads of tokens", "once a step")});
}
bool MostlySynchronises(const AdviceFacts& facts) { return facts.synchronising > facts.reading; }
AdvicePart TimeWithEvents() {
  return If(MostlySynchronises, {"measure times with events, and read them after the step",
                                 Change("measurements of time", "events, read after the step")});
}
AdvicePart NoSynchronisation(std::string_view text) {
  return If(MostlySynchronises, {text, Change("synchronisations in the loop", "none")});
}
bool MostlyReads(const AdviceFacts& facts) { return !facts.serves && !MostlySynchronises(facts); }
AdvicePart LogSeldom() {
  return If(MostlyReads, {"log every n steps", Change("logging of tensors", "every n steps")});
}
AdvicePart FixedShapes() {
  return {"use fixed or bucketed shapes", Change("shapes", "fixed or bucketed")};
}

}  // namespace

const FindingType kHostDataloader =
    Fault(Area::kHosts, "host.dataloader", {"data"}, "the device waits for the data loader",
          {.looked_at = "calls of the data loader's iterator in the step, while the device is free",
           .refuted_by = "the device has work all the time, so the replay saves nothing",
           .problem = {"Slow Dataloader Issues"},
           .categories = {TimeCategory::kDataLoader},
           .find = FindBy<HostCauses>,
           .advice = LoaderAdvice(),
           .thresholds = {&kLoaderNs}});

const FindingType kHostH2d = Fault(
    Area::kHosts, "host.h2d", {"data", "model"}, "blocking copies stop the host",
    {.looked_at = "copies whose calls make the host wait, by direction and kind of memory, and"
                  " their time on the device",
     .refuted_by = "no call waits: copies within the device, or of pinned memory during computing",
     .categories = {TimeCategory::kHostCopy},
     .advice = CopyAdvice()});

const FindingType kHostSync = Fault(
    Area::kHosts, "host.sync", {"model"}, "synchronisations drain the device",
    {.looked_at = "calls that wait for the device, behind which it has no work",
     .refuted_by = "the last calls of a step, or work that is still queued when the call returns",
     .problem = {"Synchronize Stream Issues"},
     .categories = {TimeCategory::kScalarSync, TimeCategory::kExplicitSync},
     .advice = {{NoSynchronisation("no torch.npu.synchronize() or the like in the loop"),
                 TimeWithEvents(), LogSeldom(), NoReads(), ReadTokensOnce()},
                {NoSynchronisation("no torch.cuda.synchronize() or the like in the loop"),
                 TimeWithEvents(), LogSeldom(), NoReads(), ReadTokensOnce()}},
     .thresholds = {&kUsualSyncs}});

const FindingType kHostCompile = Fault(
    Area::kHosts, "host.compile", {"framework", "model"}, "operators are compiled in the step",
    {.looked_at = "calls that compile or load code in the step",
     .refuted_by = "they belong to the start of the program or to warm-up steps",
     .problem = kDispatchProblem,
     .categories = {TimeCategory::kCompile},
     .needs = {Record::kCalls},
     .advice = {{{{"set_compile_mode(jit_compile=False)"},
                  SetOption("torch_npu.npu.set_compile_mode.jit_compile", false)},
                 FixedShapes()},
                {FixedShapes(),
                 {"warm up before the steps", Change("compilation", "before the steps")}}}});

const FindingType kHostAclop = Fault(
    Area::kHosts, "host.aclop", {"framework"}, "operators take the slow legacy path",
    {.looked_at = "calls of the legacy path (aclop), and how long the host spends in them",
     .refuted_by = "operators are launched by aclnn",
     .problem = kDispatchProblem,
     .categories = {TimeCategory::kAclOp},
     .needs = {Record::kCalls},
     .npu_alone = true,
     .advice = {
         {{{"allow_internal_format=False"},
           SetOption("torch.npu.config.allow_internal_format", false)},
          {"use a newer torch_npu and CANN (aclnn)", Change("torch_npu and CANN", "newer")}}}});

const FindingType kHostGc =
    Fault(Area::kHosts, "host.gc", {"model", "framework"}, "Python collects garbage in the step",
          {.looked_at = "recorded collections; where they are not recorded, time in which no"
                        " thread of the host records anything",
           .refuted_by = "collections are recorded but none occurred, Python stacks fill the gap,"
                         " or the host had nothing to issue",
           .problem = "GC Analysis",
           .categories = {TimeCategory::kGarbage},
           .needs = {Record::kGarbage},
           .advice = {{{"gc.freeze() after the start",
                        Change("garbage collection", "gc.freeze() after the start")},
                       {"collect every n steps on all ranks together",
                        Change("garbage collection", "every n steps on all ranks together")}}},
           .thresholds = {&kGapNs}});

const FindingType kHostMemory = Fault(
    Area::kHosts, "host.memory", {"framework", "model"}, "memory allocations stall the host",
    {.looked_at = "calls that allocate, free or map memory in the step, and whether they wait for"
                  " the device",
     .refuted_by = "the allocator keeps its memory: no call of the runtime",
     .problem = {"Memory Operator Issues"},
     .categories = {TimeCategory::kMemory},
     .needs = {Record::kCalls},
     .advice = {
         {Setting("PYTORCH_NPU_ALLOC_CONF=expandable_segments:True"), NoEmptyCache(), Recompute()},
         {Setting("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"), NoEmptyCache(),
          Recompute()}}});

const FindingType kHostCheckpoint = Fault(
    Area::kHosts, "host.checkpoint", {"model", "platform"}, "saving a checkpoint stops the step",
    {.looked_at = "saving functions, and copies to the host while they run",
     .refuted_by = "single numbers are copied",
     .categories = {TimeCategory::kCheckpoint},
     .advice = {{{"save less often", Change("checkpoint interval", "longer")},
                 {"save asynchronously", Change("checkpoint", "asynchronous")}}},
     .thresholds = {&kCheckpointCopyNs}});

}  // namespace mpa
