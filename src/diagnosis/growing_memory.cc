// SPDX-License-Identifier: Apache-2.0
// Memory that grows from step to step until a run has none left: of tensors that nobody releases,
// or of an allocator that finds no room between its tensors. Neither takes time from a step.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "diagnose.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/advice.h"
#include "mpa/measure/memory_growth.h"

namespace mpa {
namespace {

constexpr Threshold kGrowthSteps{"steps", 4, 2, kMaxCalls, "fewer steps show no growth"},
    kGrowthBytes{"bytes", 1 << 20, 1, kMaxBytes,
                 "tensors that take less than this more after each step are not a leak"},
    kGrowthSteady{"steady", 0.5, 0, 1,
                  "each step adds at least this share of what the median step adds"},
    kPoolShare{"share", 0.02, 0, 1, "the allocators take at least this share more"},
    kPoolTensors{"tensors", 0.1, 0, 1e6, "the tensors grow by less than this share of that"},
    kPoolSteps{"steps_share", 0.5, 0, 1, "at least this share of the steps adds to it"};

constexpr MetricInfo kTensorsPerStep{"tensors_per_step", "bytes",
                                     "tensors take {} more after each step"},
    kPoolPerStep{"reserved_per_step", "bytes", "{} more reserved after each step"},
    kTensorsAtMost{"allocated", "bytes", "tensors take at most {}"},
    kPoolAtEnd{"reserved", "bytes", "{} reserved in the end"};

bool CanTell(const Coverage& job) {
  return job.memory && job.steps >= job.thresholds[kGrowthSteps];
}

// The steps that count and have records of memory, without a gap.
std::vector<StepMemory> MemoryOfSteps(const Job& job, RankIndex rank) {
  std::vector<StepMemory> found;
  const std::vector<StepPart>& steps = job.Part(rank).steps;
  for (std::size_t step = job.first_step; step < std::min(job.steps, steps.size()); ++step) {
    if (!steps[step].memory.Known()) return {};
    found.push_back(steps[step].memory);
  }
  if (static_cast<double>(found.size()) < job.thresholds[kGrowthSteps]) found.clear();
  return found;
}

// What tensors take more after each step; 0: they do not grow steadily.
std::int64_t Leaked(const Job& job, const std::vector<StepMemory>& steps) {
  std::vector<std::int64_t> levels;
  for (const StepMemory& step : steps) levels.push_back(step.allocated);
  return SteadyGrowth(levels, job.thresholds[kGrowthBytes], job.thresholds[kGrowthSteady]);
}

// What the allocators hold more after each step, although the tensors need no more; 0: they do not.
std::int64_t Scattered(const Job& job, const std::vector<StepMemory>& steps) {
  if (steps.empty()) return 0;
  const auto pool = static_cast<double>(steps.back().reserved - steps.front().reserved);
  const auto tensors =
      static_cast<double>(steps.back().most_allocated - steps.front().most_allocated);
  std::size_t grown = 0;
  for (std::size_t i = 1; i < steps.size(); ++i)
    grown += steps[i].reserved > steps[i - 1].reserved ? 1 : 0;
  const std::size_t pairs = steps.size() - 1;
  if (pool <= 0 || pool < job.thresholds[kPoolShare] * static_cast<double>(steps.back().reserved) ||
      tensors >= job.thresholds[kPoolTensors] * pool ||
      static_cast<double>(grown) < job.thresholds[kPoolSteps] * static_cast<double>(pairs))
    return 0;
  return static_cast<std::int64_t>(pool) / static_cast<std::int64_t>(pairs);
}

void NameRanks(const Job& job, Finding& found) {
  if (found.ranks.size() == job.ranks.size()) found.ranks.clear();
}

void CheckGrowth(Conclusions& conclusions) {
  const auto& [job, replays, diagnosis] = conclusions;
  Finding leaks = NewFinding(job, kMemGrowth), pieces = NewFinding(job, kMemFragments);
  std::int64_t leaked = 0, scattered = 0, reserved = 0, allocated = 0;
  for (RankIndex rank; rank < job.ranks.size(); ++rank) {
    const std::vector<StepMemory> steps = MemoryOfSteps(job, rank);
    if (const std::int64_t more = Leaked(job, steps); more > 0) {
      leaks.ranks.push_back(job.ranks[rank].rank);
      leaked = std::max(leaked, more);
    } else if (const std::int64_t taken = Scattered(job, steps); taken > 0) {
      pieces.ranks.push_back(job.ranks[rank].rank);
      scattered = std::max(scattered, taken);
      reserved = std::max(reserved, steps.back().reserved);
      allocated = std::max(allocated, steps.back().most_allocated);
    }
  }
  if (leaked > 0) {
    NameRanks(job, leaks);
    leaks.Measure(kTensorsPerStep, leaked);
    diagnosis.findings.push_back(std::move(leaks));
  }
  if (scattered > 0) {
    NameRanks(job, pieces);
    pieces.Measure(kPoolPerStep, scattered);
    pieces.Measure(kPoolAtEnd, reserved);
    pieces.Measure(kTensorsAtMost, allocated);
    diagnosis.findings.push_back(std::move(pieces));
  }
}

}  // namespace

const FindingType kMemGrowth = Fault(
    Area::kSettings, "mem.growth", {"model", "framework"}, "tensors are kept from step to step",
    {.looked_at = "what tensors take at the end of each step",
     .refuted_by = "a step adds nothing, or each adds another amount",
     .applies = CanTell,
     .conclude = CheckGrowth,
     .advice = {{{"see which lines allocate it (-m memory_timeline)",
                  Check("lines that allocate it", "-m memory_timeline")},
                 {"release results of earlier steps (lists, caches, graphs of the loss)",
                  Change("results of earlier steps", "released")}},
                {{"see which lines allocate it (-m memory_timeline)",
                  Check("lines that allocate it", "-m memory_timeline")},
                 {"release results of earlier steps (lists, caches, graphs of the loss)",
                  Change("results of earlier steps", "released")}}},
     .thresholds = {&kGrowthSteps, &kGrowthBytes, &kGrowthSteady}});

const FindingType kMemFragments = Fault(
    Area::kSettings, "mem.fragments", {"framework"}, "the allocator takes more memory in each step",
    {.looked_at = "what the allocators hold at the end of each step, and what tensors take of it",
     .refuted_by = "tensors need as much more, or few steps add to it",
     .applies = CanTell,
     .advice = {{Setting("PYTORCH_NPU_ALLOC_CONF=expandable_segments:True"),
                 {"allocate tensors of the same sizes in each step",
                  Change("sizes of tensors", "the same in each step")}},
                {Setting("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"),
                 {"allocate tensors of the same sizes in each step",
                  Change("sizes of tensors", "the same in each step")}}},
     .thresholds = {&kPoolShare, &kPoolTensors, &kPoolSteps}});

}  // namespace mpa
