// SPDX-License-Identifier: Apache-2.0
// Memory of the process that no allocator of the framework holds, and that grows from step to step:
// buffers of collectives, of compiled graphs, of libraries. The device tells what the process
// holds; the difference to what the allocators report is what others within it took.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnose.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/advice.h"
#include "mpa/measure/memory_growth.h"

namespace mpa {
namespace {

constexpr Threshold kOutsideSteps{"steps", 4, 2, kMaxCalls, "fewer steps show no growth"},
    kOutsideBytes{"bytes", 16 << 20, 1, kMaxBytes,
                  "less than this after each step may be the profiler's own"},
    kOutsideSteady{"steady", 0.5, 0, 1,
                   "each step adds at least this share of what the median step adds"},
    kOutsideComponent{"component", 0.5, 0, 1,
                      "a component that grows by at least this share of it is named"};

constexpr MetricInfo kOutsidePerStep{"outside_per_step", "bytes", "{} more after each step"},
    kOutsideAtEnd{"outside", "bytes", "{} beside the allocators in the end"};

// What the process holds beside its allocators at the ends of the steps that count; empty where a
// step was not recorded.
std::vector<std::int64_t> OutsideOfSteps(const Job& job, const RankDiagnosis& part) {
  std::vector<std::int64_t> levels;
  for (std::size_t step = job.first_step; step < std::min(job.steps, part.steps.size()); ++step) {
    const StepMemory& memory = part.steps[step].memory;
    if (memory.process < 0 || memory.reserved < 0) return {};
    levels.push_back(memory.process - memory.reserved);
  }
  if (static_cast<double>(levels.size()) < job.thresholds[kOutsideSteps]) levels.clear();
  return levels;
}

// The part of CANN that most of the growth is in; empty: none has told so.
std::string_view ComponentOf(const Job& job, const RankDiagnosis& part, std::int64_t grown) {
  const ComponentMemory* most = nullptr;
  for (const ComponentMemory& component : part.memory.components) {
    if (most == nullptr || component.last - component.first > most->last - most->first)
      most = &component;
  }
  if (most == nullptr || static_cast<double>(most->last - most->first) <
                             job.thresholds[kOutsideComponent] * static_cast<double>(grown))
    return {};
  return most->name;
}

void FindOutsideMemory(Conclusions& conclusions) {
  const auto& [job, replays, diagnosis] = conclusions;
  Finding found = NewFinding(job, kMemOutside);
  std::int64_t most = 0, at_end = 0;
  for (RankIndex rank; rank < job.ranks.size(); ++rank) {
    const RankDiagnosis& part = job.Part(rank);
    const std::vector<std::int64_t> levels = OutsideOfSteps(job, part);
    const std::int64_t usual =
        SteadyGrowth(levels, job.thresholds[kOutsideBytes], job.thresholds[kOutsideSteady]);
    if (usual == 0) continue;
    const RankId name = job.ranks[rank].rank;
    found.ranks.push_back(name);
    const std::string_view component = ComponentOf(job, part, levels.back() - levels.front());
    if (!component.empty())
      found.evidence.push_back({.rank = name,
                                .source = part.source,
                                .table = "counters",
                                .name = std::string(component),
                                .start = part.steps[job.first_step].begin,
                                .capture = part.capture});
    most = std::max(most, usual);
    at_end = std::max(at_end, levels.back());
  }
  if (found.ranks.empty()) return;
  if (found.ranks.size() == job.ranks.size()) found.ranks.clear();
  found.Measure(kOutsidePerStep, most);
  found.Measure(kOutsideAtEnd, at_end);
  diagnosis.findings.push_back(std::move(found));
}

}  // namespace

const FindingType kMemOutside =
    Fault(Area::kSettings, "mem.outside", {"framework", "communication"},
          "memory beside the framework's allocator grows from step to step",
          {.looked_at =
               "what the device says that the process holds at the end of each step, without what"
               " the allocators hold, and what the parts of CANN reserve",
           .refuted_by = "a step adds nothing, or the allocators hold the more",
           .npu_alone = true,
           .applies =
               [](const Coverage& job) {
                 return job.tells_process && job.steps >= job.thresholds[kOutsideSteps];
               },
           .conclude = FindOutsideMemory,
           .advice = {{{"see which part takes it (-m hardware)",
                        Check("parts of CANN that take it", "-m hardware")},
                       {"make groups of ranks and compiled graphs once, not in each step",
                        Change("groups and compiled graphs", "made once")}}},
           .thresholds = {&kOutsideSteps, &kOutsideBytes, &kOutsideSteady, &kOutsideComponent}});

}  // namespace mpa
