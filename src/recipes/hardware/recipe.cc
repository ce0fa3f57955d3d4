// SPDX-License-Identifier: Apache-2.0
// Counters of memories, links and processors: what they reach, when, and what ran then.
#include <algorithm>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/measure/accounting.h"
#include "mpa/model/step_selection.h"
#include "mpa/recipe/arguments.h"
#include "part.h"

namespace mpa::recipes::hardware {
namespace {

RankCounters MapHardware(const RankTrace& trace, const RecipeArguments&) { return Measure(trace); }

void CheckCounters(const RankCounters& part) {
  for (const Counter& counter : part.counters) {
    const bool holds = counter.over_time.empty() || counter.over_time.size() == kStretches;
    if (!holds || part.end < part.begin)
      Fail(ErrorKind::kCorrupt, "a counter over time is impossible");
  }
}

void ReduceHardware(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                    Report& report) {
  if (wanted.sheets) {
    AddSheets(ranks, report);
    AddDrawings(ranks, report);
  }
  AddLines(ranks, wanted.screen, report);
}

Verdict JudgeHardware(const RankFacts& facts) {
  return JudgeReadable(facts)
      .Refuse(facts.kind == CaptureKind::kGpu, "only counters of NPUs are examined", "")
      .RefuseKineto(facts, "have no counters of the hardware")
      .LeaveApart(facts.recorded.hardware == Recorded::kNo,
                  "no counters of the hardware were recorded", kHowToRecord);
}

}  // namespace

Recipe Hardware() {
  return MakeRecipe<MapHardware, ReduceHardware, CheckCounters>(
      {.name = "hardware",
       .folder = "Hardware",
       .summary = "counters of memories, links and the host: what they reach, and what ran then",
       .needs = Tables::kCounters | Tables::kCoreClocks | Tables::kChips | Tables::kJobInfo |
                Tables::kHostOps | Tables::kDeviceTasks | Tables::kHostCalls | kStepTables |
                Tables::kKernelTensors | Tables::kKernelCounters | Tables::kKernelLoads,
       .can_run = JudgeHardware});
}

}  // namespace mpa::recipes::hardware
