// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/recipe.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "check_part.h"
#include "diagnose.h"
#include "mpa/diagnosis/diagnosis.h"
#include "mpa/measure/accounting.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "part_fields.h"
#include "problem_sheets.h"

namespace mpa {
namespace {

RankDiagnosis MapDiagnosis(const RankTrace& trace, const RecipeArguments&) {
  return MakeRankDiagnosis(trace);
}

std::size_t CountOr(const RecipeArguments& arguments, std::string_view name, std::size_t otherwise) {
  return NumberArgument<std::size_t>(arguments, name).value_or(otherwise);
}

void ReduceDiagnosis(const std::vector<OfRank<RankDiagnosis>>& parts,
                     const RecipeArguments& arguments, Wanted wanted, Report& report) {
  constexpr std::size_t kOnScreen = 5;
  std::vector<DiagnosedRank> ranks;
  for (const auto& [rank, part] : parts) {
    CheckPart(part);
    ranks.push_back({rank, &part});
    BeginRank(rank, report);
  }
  const Diagnosis diagnosis = Diagnose(std::move(ranks));
  const auto language = arguments.find("language");
  const bool chinese = language != arguments.end() && language->second == "cn";
  const Language in = chinese ? Language::kChinese : Language::kEnglish;
  const DiagnosisJsonOptions options{.findings = CountOr(arguments, "top", 20),
                                     .evidence = CountOr(arguments, "evidence", 5),
                                     .max_chars = CountOr(arguments, "max_chars", 0)};
  report.documents.push_back({std::string(kDiagnosisDocument), DiagnosisJson(diagnosis, options)});
  if (wanted.screen != Detail::kNone) {
    report.lines = DiagnosisScreen(diagnosis, in, CountOr(arguments, "top", kOnScreen));
  }
  if (wanted.sheets) AddProblemSheets(diagnosis, in, report);
  report.notes.insert(report.notes.end(), diagnosis.notes.begin(), diagnosis.notes.end());
}

Verdict CanDiagnose(const RankFacts& facts) { return JudgeReadable(facts); }

}  // namespace

Recipe DiagnosisRecipe() {
  RecipeInfo info;
  info.name = "advisor";
  info.folder = "Advisor";
  info.summary = "What costs the step, whose it is, and what mending it wins";
  info.needs = kAccountTables | Tables::kJobInfo | Tables::kCoreClocks | Tables::kDeviceRuns;
  info.can_run = CanDiagnose;
  info.empty_is_answer = true;
  return MakeRecipe<MapDiagnosis, ReduceDiagnosis>(std::move(info));
}

}  // namespace mpa
