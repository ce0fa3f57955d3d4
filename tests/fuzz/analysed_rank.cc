// SPDX-License-Identifier: Apache-2.0
#include "fuzz/analysed_rank.h"

#include <string>
#include <vector>

#include "fuzz/fuzzing.h"
#include "mpa/compare/comparison.h"
#include "mpa/diagnosis/recipe.h"
#include "mpa/gate/judge.h"
#include "mpa/gate/run_summary.h"
#include "mpa/model/launches.h"
#include "mpa/model/step_selection.h"
#include "mpa/recipe/recipe.h"
#include "support/rank_checks.h"

namespace mpa::test {
namespace {

void CompareWithItself(const RankTrace& trace, unsigned choice) {
  CompareOptions options;
  options.modules = (choice & 1) != 0;
  options.match_shapes = (choice & 2) != 0;
  options.kernel_types = (choice & 4) != 0;
  options.max_kernels = choice & 8;
  const CompareInput input(trace, "old", trace, "new", options);
  Report report;
  for (const Comparison& comparison : AllComparisons()) comparison.run(input, report);
  for (Sheet& sheet : report.sheets) sheet.rows.reserve(0);  // makes those made when they are read
}

void RunRecipes(const RankTrace& trace) {
  std::vector<Recipe> recipes = AllRecipes();
  recipes.push_back(DiagnosisRecipe());
  for (const Recipe& recipe : recipes) {
    Try("", [&] {
      Report direct, decoded;
      const RankPart part{0, recipe.map(trace, {})};
      recipe.reduce({part}, {}, {}, direct);
      recipe.reduce({{0, recipe.decode(recipe.encode(part))}}, {}, {}, decoded);
      if (direct.lines != decoded.lines || direct.notes != decoded.notes) Die("a part changed");
    });
  }
}

void Gate(const RankTrace& trace) {
  const gate::SummaryRequest request{.patterns = {gate::ParseMetric("op:*a*")}, .modules = true};
  const gate::RunSummary run =
      gate::ReduceRanks({gate::Summarise(trace, request)}, gate::RankStat::kWorst);
  gate::GateSettings settings;
  settings.rules = {gate::ParseRule("step_time>+3%"), gate::ParseRule("op:*a*>+3%&+1us")};
  gate::Judge(settings, {run}, {run}, {});
}

void Keep(const std::string& breach) {
  if (!breach.empty()) Die(breach);
}

}  // namespace

void AnalyseRank(RankTrace& trace, unsigned choice) {
  Keep(BrokenPromise(trace));
  LinkByTime(trace);
  CompareWithItself(trace, choice);
  RunRecipes(trace);
  Gate(trace);
  if (trace.steps.Empty()) return;
  SelectStep(trace, trace.steps.id[choice % trace.steps.Size()]);
  Keep(BrokenPromise(trace));
  CompareWithItself(trace, choice);
}

}  // namespace mpa::test
