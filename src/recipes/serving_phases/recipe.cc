// SPDX-License-Identifier: Apache-2.0
// Steps of servers that answer requests: prefill, decode, and what their time was spent on.
#include <fmt/format.h>

#include <cstddef>
#include <vector>

#include "mpa/recipe/arguments.h"
#include "phase_groups.h"

namespace mpa::recipes {
namespace {

using serving_phases::RankServing;

RankServing MapServingPhases(const RankTrace& trace, const RecipeArguments&) {
  return {AccountServing(trace)};
}

void ReduceServingPhases(const serving_phases::Ranks& ranks, const RecipeArguments&,
                         OutputSelection wanted, Report& report) {
  std::size_t without = 0;
  for (const auto& rank : ranks) without += rank.part.steps.empty() ? 1 : 0;
  if (without > 0) {
    report.notes.push_back(fmt::format(
        "{} of {} ranks have no steps of a server (\"execute_context_..\", \"step[DECODE ..]\", "
        "\"decode[..]\"); let the server name its steps while it is profiled, see docs/serving.md",
        without, ranks.size()));
  }
  const std::vector<serving_phases::PhaseGroup> groups = serving_phases::GroupSteps(ranks);
  if (wanted.sheets) serving_phases::AddSheets(ranks, groups, report);
  if (wanted.screen != Detail::kNone) serving_phases::AddLines(ranks, groups, report);
}

}  // namespace

Recipe ServingPhases() {
  return MakeRecipe<MapServingPhases, ReduceServingPhases>(
      {.name = "serving_phases",
       .folder = "ServingPhases",
       .summary = "prefill and decode steps of servers, and where their time goes",
       .needs = kAccountTables,
       .can_run = JudgeReadable});
}

}  // namespace mpa::recipes
