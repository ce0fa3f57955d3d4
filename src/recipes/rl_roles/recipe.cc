// SPDX-License-Identifier: Apache-2.0
// Iterations of reinforcement learning: what each role takes, and which one to scale.
#include <fmt/format.h>

#include <vector>

#include "iteration_account.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/amount.h"

namespace mpa::recipes {
namespace {

using rl_roles::CaptureRoles;

CaptureRoles MapRlRoles(const RankTrace& trace, const RecipeArguments& arguments) {
  CaptureRoles roles = rl_roles::RolesOf(trace);
  roles.wanted = NumberArgument<std::int64_t>(arguments, kStepId).value_or(-1);
  return roles;
}

// Captures of different iterations are far apart.
void NoteLongBubbles(const std::vector<rl_roles::IterationAccount>& accounts, Report& report) {
  for (const rl_roles::IterationAccount& account : accounts) {
    for (const rl_roles::Bubble& bubble : account.bubbles) {
      const TimeNs length = bubble.time.end - bubble.time.begin;
      if (length <= account.Wall() - account.BubbleWall()) continue;
      report.notes.push_back(fmt::format(
          "iteration {}: between {} and {} no role runs for {}, longer than all roles together; "
          "the captures may be of different iterations, or lack the roles between them",
          account.iteration, bubble.before, bubble.behind, AmountText(Quantity::kTime, length)));
    }
  }
}

void ReduceRlRoles(const rl_roles::Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                   Report& report) {
  const rl_roles::JobRoles job = rl_roles::RolesOfJob(ranks);
  report.notes.insert(report.notes.end(), job.notes.begin(), job.notes.end());
  report.partial = job.partial;
  const std::vector<rl_roles::IterationAccount> accounts = rl_roles::AccountIterations(job);
  NoteLongBubbles(accounts, report);
  if (wanted.sheets) rl_roles::AddSheets(job, accounts, report);
  if (wanted.screen != Detail::kNone) rl_roles::AddLines(accounts, report);
}

}  // namespace

Recipe RlRoles() {
  return MakeRecipe<MapRlRoles, ReduceRlRoles>(
      {.name = "rl_roles",
       .folder = "RlRoles",
       .summary = "roles of reinforcement learning: iterations, bubbles, and which to scale",
       .needs = rl_roles::kRoleTables,
       .can_run = JudgeReadable,
       .cuts_steps = true,
       .joins_groups = true});
}

}  // namespace mpa::recipes
