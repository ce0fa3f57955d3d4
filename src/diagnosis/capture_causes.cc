// SPDX-License-Identifier: Apache-2.0
// What the settings of the job and of its captures say. These findings win nothing by themselves.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/causes/variables.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/advice.h"
#include "mpa/diagnosis/report/finding_text.h"

namespace mpa {
namespace {

constexpr Threshold kMemoryRetries{
    "retries", 0.5, 0.01, kMaxCalls,
    "allocations free memory and ask again this many times per step"},
    kMemoryInPieces{
        "in_pieces", 1.4, 1, 1e6,
        "the memory is fragmented if the allocator holds this many times what its tensors take"},
    kWrittenBeside{"written_beside", 0.2, 0, 1e6,
                   "element-wise operators write this share of the memory in a step beside what"
                   " they read"};

constexpr MetricInfo kDifferentValues{"different_values", "count", "{} different values"},
    kRanksWithValue{"ranks_with_value", "count", "ranks with this value: {}"},
    kStepsCaptured{"steps_captured", "count", "steps captured: {}"},
    kStartUp{"start_up", "share", "start of the program: {}"},
    kRetriesPerStep{"retries_per_step", "count", "{} retries a step"},
    kReservedOfAllocated{"reserved_of_allocated", "ratio", "{} times what tensors take"},
    kHeldOutside{"outside", "bytes", "{} held by the process beside its allocators"},
    kHeldByOthers{"others", "bytes", "{} by other processes and the system"},
    kBytesBeside{"written_beside", "bytes", "{} a step written beside the inputs"},
    kCausesNotJudged{"causes_not_judged", "count", "causes not judged: {}"};

using RanksByValue = std::map<std::string, std::vector<RankId>>;

// The finding that a variable adds to; empty: there is none.
std::string ServedBy(const Variable& variable, const Diagnosis& diagnosis) {
  for (const FindingType* finding : variable.serves) {
    for (const Finding& found : diagnosis.findings) {
      if (found.Is(*finding)) return found.key;
    }
  }
  return "";
}

void AddSetting(const Job& job, const Variable& variable, const RanksByValue& by_value,
                bool differs, Diagnosis& diagnosis) {
  Finding found = NewFinding(job, kEnvCheck, variable.name);
  FoundSetting setting{.variable = std::string(variable.name),
                       .values = {by_value.begin(), by_value.end()},
                       .differs = differs,
                       .serves = ServedBy(variable, diagnosis)};
  for (const auto& [value, ranks] : setting.values) {
    if (!differs) found.ranks.insert(found.ranks.end(), ranks.begin(), ranks.end());
  }
  if (differs) {
    const auto has_fewer = [](const auto& a, const auto& b) {
      return a.second.size() < b.second.size();
    };
    found.ranks = std::ranges::min_element(by_value, has_fewer)->second;
    found.Measure(kDifferentValues, by_value.size());
  } else {
    found.Measure(kRanksWithValue, found.ranks.size());
  }
  std::ranges::sort(found.ranks);
  if (found.ranks.size() == job.ranks.size()) found.ranks.clear();
  found.setting = std::move(setting);
  diagnosis.findings.push_back(std::move(found));
}

// Values that cost time; else values that differ where ranks that talk to each other should agree.
void CheckSettings(Conclusions& conclusions) {
  const auto& [job, replays, diagnosis] = conclusions;
  for (const Variable& variable : Variables()) {
    RanksByValue poor, agreed;
    for (RankIndex rank; rank < job.ranks.size(); ++rank) {
      const Settings& settings = job.Part(rank).settings;
      const std::string value = ValueIn(settings, variable.name);
      agreed[AgreedPart(variable.name, value)].push_back(job.ranks[rank].rank);
      if (IsPoor(variable, settings)) poor[value].push_back(job.ranks[rank].rank);
    }
    if (variable.is_finding && !poor.empty()) {
      AddSetting(job, variable, poor, false, diagnosis);
    } else if (variable.must_agree && agreed.size() > 1) {
      AddSetting(job, variable, agreed, true, diagnosis);
    }
  }
}

// What the profiler keeps of each call takes the host time, which matters where the host is slow.
void CheckOverhead(Conclusions& conclusions) {
  const auto& [job, replays, diagnosis] = conclusions;
  const bool host_is_slow = std::ranges::any_of(diagnosis.findings, [](const Finding& found) {
    return found.Is(kHostLaunchBound) || found.Is(kHostPython);
  });
  const auto& settings = job.Part(0).settings;
  const bool costs = settings.contains("profiler.stack") || settings.contains("profiler.memory") ||
                     settings.contains("profiler.modules") || job.Part(0).level == "Level2";
  if (host_is_slow && costs) diagnosis.findings.push_back(NewFinding(job, kCaptureOverhead));
}

void CheckSteps(Conclusions& conclusions) {
  const auto& [job, replays, diagnosis] = conclusions;
  if (std::ranges::none_of(diagnosis.findings, IsOfStep) || diagnosis.steps.empty() ||
      static_cast<double>(job.CountedSteps()) >= job.thresholds[kFewSteps])
    return;
  Finding found = NewFinding(job, kCaptureWarmup);
  found.Measure(kStepsCaptured, job.CountedSteps());
  diagnosis.findings.push_back(std::move(found));
}

// A capture without steps that mostly shows how the program loads libraries and code tells no
// habit, either.
void CheckStartUp(Conclusions& conclusions) {
  const auto& [job, replays, diagnosis] = conclusions;
  if (!diagnosis.steps.empty()) return;
  TimeNs starting = 0, all = 0;
  for (RankIndex rank; rank < job.ranks.size(); ++rank) {
    const RankDiagnosis& part = job.Part(rank);
    if (part.steps.empty()) continue;
    const StepPart& window = part.steps.front();
    all += window.end - window.begin;
    for (const HostShare& share : part.shares) {
      const bool within = part.graph.nodes[part.graph.edges[share.edge].node].start > window.begin;
      if (share.starts_up && within) starting += share.time;
    }
  }
  if (starting == 0 || 2 * starting < all) return;
  Finding found = NewFinding(job, kCaptureWarmup);
  found.Measure(kStartUp, std::min(1.0, Share(starting, all)));
  diagnosis.findings.push_back(std::move(found));
}

// What element-wise operators of the counted steps write beside the tensor that they read, in each.
// CANN's names of kernels tell those that overwrite it: "aclnnInplaceAdd_...".
double WrittenBeside(const Job& job, RankIndex rank) {
  const RankDiagnosis& part = job.Part(rank);
  double bytes = 0;
  for (const GraphNode& node : part.graph.nodes) {
    if (node.kind != NodeKind::kKernel || !job.Counts(node.step)) continue;
    const KernelKind& kind = part.KindOf(node);
    const std::string& name = part.names[kind.name];
    if (!kind.streams || !name.starts_with("aclnn") || name.starts_with("aclnnInplace")) continue;
    bytes += static_cast<double>(kind.written);
  }
  return bytes / static_cast<double>(std::max<std::size_t>(1, job.CountedSteps()));
}

// An allocator that finds no room waits for the device, frees what it kept and asks again. What
// that costs is the matter of host.memory. Where it holds much more than its tensors take, there is
// room, but in pieces.
void CheckMemory(Conclusions& conclusions) {
  const auto& [job, replays, diagnosis] = conclusions;
  Finding found = NewFinding(job, kMemPressure);
  double most = 0;
  std::int64_t peak = 0, outside = 0, others = 0;
  double in_pieces = 0, beside = 0;
  WhatIf retrying;
  for (RankIndex rank; rank < job.ranks.size(); ++rank) {
    const RankDiagnosis& part = job.Part(rank);
    // A call that waits for several streams is there once for each.
    std::set<std::pair<std::int32_t, TimeNs>> retries;  // steps and starts
    for (const BlockedPart& call : part.blocked) {
      if (call.category == TimeCategory::kMemory &&
          call.step >= static_cast<std::int32_t>(job.first_step))
        retries.emplace(call.step, call.start);
    }
    const double per_step = Share(retries.size(), std::max<std::size_t>(1, job.CountedSteps()));
    if (per_step < job.thresholds[kMemoryRetries]) continue;
    found.ranks.push_back(job.ranks[rank].rank);
    for (const BlockedPart& call : part.blocked) {
      if (call.category == TimeCategory::kMemory)
        retrying.expect.cuts.push_back(job.graph.first_edge[rank] + call.edge);
    }
    most = std::max(most, per_step);
    peak = std::max(peak, part.memory.peak);
    outside = std::max(outside, part.memory.outside);
    others = std::max(others, part.memory.others);
    const double written = WrittenBeside(job, rank);
    if (part.memory.peak > 0 &&
        written >= job.thresholds[kWrittenBeside] * static_cast<double>(part.memory.peak))
      beside = std::max(beside, written);
    if (part.memory.allocated > 0)
      in_pieces = std::max(in_pieces, Share(part.memory.pool, part.memory.allocated));
  }
  if (found.ranks.empty()) return;
  if (found.ranks.size() == job.ranks.size()) found.ranks.clear();
  found.Measure(kRetriesPerStep, most);
  if (peak > 0) found.Measure(kPeakReserved, peak);
  if (outside > 0) found.Measure(kHeldOutside, outside);
  if (others > 0) found.Measure(kHeldByOthers, others);
  if (in_pieces > 0) found.Measure(kReservedOfAllocated, in_pieces);
  if (beside > 0) found.Measure(kBytesBeside, beside);
  found.facts.writes_beside = beside > 0;
  // The tensors themselves fill the memory: segments that grow leave no more room, and spare no
  // retries, of which host.memory tells the cost.
  if (in_pieces < job.thresholds[kMemoryInPieces]) {
    found.already_set = {"PYTORCH_NPU_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"};
    for (Finding& stalls : diagnosis.findings) {
      if (in_pieces > 0 && stalls.Is(kHostMemory)) stalls.already_set = found.already_set;
    }
  }
  EvidenceFinder(job).Find(retrying, {TimeCategory::kMemory}, found);
  diagnosis.findings.push_back(std::move(found));
}

// Causes of which nothing is recorded, although it could be. They are listed one by one beside the
// findings.
void CheckMissing(Conclusions& conclusions) {
  const auto& [job, replays, diagnosis] = conclusions;
  FindNotJudged(job, diagnosis);
  const auto missing = std::ranges::count_if(
      diagnosis.not_judged, [](const NotJudged& row) { return row.hint != kNotOnGpus; });
  if (missing == 0) return;
  Finding found = NewFinding(job, kCaptureMissing);
  found.Measure(kCausesNotJudged, missing);
  const auto needs_level = [](const NotJudged& row) {
    return row.hint.starts_with(kProfilerLevel);
  };
  if (std::ranges::none_of(diagnosis.not_judged, needs_level))
    found.already_set.emplace_back(kProfilerLevel);
  diagnosis.findings.push_back(std::move(found));
}

AdvicePart OverwriteInputs() {
  return If([](const AdviceFacts& facts) { return facts.writes_beside; },
            {"overwrite inputs that nothing reads later (relu_, add_, inplace=True)",
             Change("element-wise operators", "in place, where nothing reads the input later")});
}
AdvicePart ShardOptimizer() {
  return If(Trains,
            {"shard the optimizer over the ranks", Change("optimizer", "sharded over the ranks")});
}
AdvicePart SmallerBatches() {
  return If(DoesNotTrain, {"smaller batches", Change("batch size", "smaller")});
}
AdvicePart CaptureWithout(Fits fits, std::string_view text, std::string_view option,
                          Action::Value value) {
  return If(fits, {text, Capture({{option, std::move(value)}})});
}
AdvicePart CaptureSkipped() {
  return {"capture what 'Not judged' lists", Capture({{"what", std::string("skipped")}})};
}

}  // namespace

const FindingType kEnvCheck =
    Fault(Area::kSettings, "env.check", {"framework"}, "a setting costs time",
          {.looked_at = "variables that the capture recorded",
           .refuted_by = "the value is the recommended one, or all ranks agree",
           .problem = "Environment Variable Issues",
           .npu_alone = true,
           .conclude = CheckSettings});

const FindingType kMemPressure =
    Fault(Area::kSettings, "mem.pressure", {"model", "framework"}, "the device memory is full",
          {.looked_at = "allocations that waited for the device, freed memory and asked again",
           .refuted_by = "no retry: full memory alone is not a problem",
           .categories = {TimeCategory::kMemory},
           .needs = {Record::kCalls},
           .applies = [](const Coverage& job) { return !job.on_gpu; },
           .conclude = CheckMemory,
           .advice = {{Setting("PYTORCH_NPU_ALLOC_CONF=expandable_segments:True"),
                       OverwriteInputs(), Recompute(), ShardOptimizer(), SmallerBatches()},
                      {Setting("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"), Recompute(),
                       ShardOptimizer(), SmallerBatches()}},
           .thresholds = {&kMemoryRetries, &kMemoryInPieces, &kWrittenBeside}});

const FindingType kCaptureOverhead = Opportunity(
    Area::kCapture, "capture.overhead", {"platform"}, "the profiler itself may slow the host",
    {.looked_at = "switches of the profiler on a job whose host is slow",
     .refuted_by = "the switches are off, or the host is ahead of the device",
     .conclude = CheckOverhead,
     .advice = {
         {CaptureWithout([](const AdviceFacts& facts) { return facts.has_stacks; },
                         "set with_stack=False before changing host code", "with_stack", false),
          CaptureWithout([](const AdviceFacts& facts) { return facts.has_modules; },
                         "set with_modules=False before changing host code", "with_modules", false),
          CaptureWithout([](const AdviceFacts& facts) { return facts.has_memory; },
                         "set profile_memory=False", "profile_memory", false),
          CaptureWithout([](const AdviceFacts& facts) { return facts.has_level2; },
                         "set profiler_level=Level1", "level", std::string("Level1"))}}});

const FindingType kCaptureWarmup = Opportunity(
    Area::kCapture, "capture.warmup", {"platform"},
    "too few steps to tell a habit from an accident",
    {.looked_at = "the number of steps that count, and the share of the window that is the start"
                  " of the program",
     .refuted_by = "three steps or more",
     .conclude =
         [](Conclusions& conclusions) {
           CheckSteps(conclusions);
           CheckStartUp(conclusions);
         },
     .advice = {{{"capture 3 steps or more (warmup=1, active=3)",
                  Capture({{"warmup_steps", 1}, {"active_steps", 3}})}}},
     .thresholds = {&kFewSteps}});

const FindingType kCaptureMissing = Opportunity(
    Area::kCapture, "capture.missing", {"platform"}, "the captures do not show all causes",
    {.looked_at = "records that the captures lack, for causes that the job can have",
     .refuted_by = "all records are present",
     .conclude = CheckMissing,
     .advice = {{If([](const AdviceFacts& facts) { return !facts.has_level1; },
                    {"profiler_level=Level1 on all ranks",
                     Capture({{"level", std::string("Level1")}}), kProfilerLevel}),
                 CaptureSkipped()},
                {CaptureSkipped()}}});

}  // namespace mpa
