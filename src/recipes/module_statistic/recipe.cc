// SPDX-License-Identifier: Apache-2.0
// Modules of the model with their operators, kernels and device time, of every rank.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "module_screen.h"
#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/measure/module_statistic.h"
#include "mpa/mfu/chip_of_rank.h"
#include "mpa/mfu/kernel_mfu.h"
#include "mpa/mfu/module_mfu.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/module_columns.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"

namespace mpa {

constexpr ModuleSource LastOf(ModuleSource) { return ModuleSource::kPythonCalls; }

namespace recipes::module_statistic {
namespace {

struct ModulePart {
  mpa::ModuleStatistic statistic;
  RatedKernels rated;
};

using PartOfRank = OfRank<ModulePart>;
using StatisticOfRank = OfRank<mpa::ModuleStatistic>;

void CheckModules(const ModulePart& part) {
  bool holds = true;
  const ModuleCoverage& coverage = part.statistic.coverage;
  for (const TimeNs time :
       {coverage.in_modules, coverage.outside_modules, coverage.without_op, coverage.collectives})
    holds = holds && IsDuration(time);
  for (const ModuleStatisticRow& row : part.statistic.rows)
    holds = holds && IsDuration(row.total) && IsDuration(row.computed);
  if (!holds) Fail(ErrorKind::kCorrupt, "a module has impossible times");
}

constexpr Option<bool> kWithoutCounters =
    Switch("without_counters",
           "Merge kernels whose names differ only by a counter, such as trans_TransData_17");
constexpr Option<bool> kWholeBackward =
    Switch("whole_backward",
           "Count the backward pass of a module as one call, even if other modules run in between");
constexpr Option<bool> kVariantsOnce = Switch(
    "variants_once",
    "Number the variants of a module (calls with different operators) once for the whole rank");
constexpr Option<bool> kWithoutMfu =
    CompatSwitch("Write the columns of the Python tool: no avgMFU");

ModulePart MapModuleStatistic(const RankTrace& trace, const RecipeArguments& arguments) {
  ModuleStatisticOptions options;
  options.without_counters = arguments[kWithoutCounters];
  options.whole_backward = arguments[kWholeBackward];
  if (arguments[kVariantsOnce]) options.variants = VariantNaming::kOnce;
  const ThreadGroups groups(trace);
  const AllOpWork work = FindOpWork(trace);
  ModulePart part{.statistic = SumModules(trace, groups, work, options), .rated = {}};
  std::vector<ModuleStatisticRow>& rows = part.statistic.rows;
  const ChipPeak chip = ChipOf(trace, arguments);
  const bool compat = arguments[kWithoutMfu];
  if (!compat &&
      PeakOf(chip, TypeClass::kFp16).gap == PeakGap::kNone) {  // otherwise no kernel has one
    const RankMfu mfu = FindKernelMfu(trace, groups, work, chip);
    for (ModuleStatisticRow& row : rows) row.mfu = AverageMfu(row, mfu);
    part.rated = CountRated(mfu);
  }
  for (ModuleStatisticRow& row : rows) row.work = {};
  return part;
}

void AddSheet(const std::vector<StatisticOfRank>& parts, Report& report) {
  constexpr ModuleColumnNames kNames = {
      "parentModule",          "module",  "opName", "kernelList", "totalKernelDuration(ns)",
      "avgKernelDuration(ns)", "opCount", "avgMFU"};
  std::vector<ColumnOf<ModuleRowOfRank>> columns = ModuleColumns(kNames);
  columns.push_back({{.name = "rankID",
                      .format = Format::kInteger,
                      .meaning = "The rank.",
                      .in_workbook = {.shown = InWorkbook::Shown::kNever}},
                     Member<&ModuleRowOfRank::rank, kRank>});
  // Behind the columns of the Python tool, which scripts may know by their position.
  if (std::ranges::any_of(parts, [](const auto& part) { return HasMfu(part.part.rows); })) {
    columns.push_back(ModuleMfuColumn(kNames));
  }
  ItemSheet list(
      {"ModuleStatistic", ToTranslate("Kernels of each module, in the order of the model")},
      std::move(columns));
  list.sheet.of_rank = {"module_statistic", "Sheet1"};
  list.sheet.charts = {LargestBars(
      "Kernel time of the modules, without those within, all ranks", {"parentModule", "module"},
      {{"totalKernelDuration(ns)", Tint::kCompute}}, Measured::kNs, Chart::SameLabel::kSum)};
  AddRowsOfRanks(parts, &mpa::ModuleStatistic::rows, std::move(list), report);
}

void AddNotes(const PartOfRank& part, Report& report) {
  const mpa::ModuleStatistic& statistic = part.part.statistic;
  if (statistic.rows.empty()) {
    report.notes.push_back(
        Say("{}: no modules with kernels; mark modules with mstx ranges of the domain"
            " Module, or collect with with_stack=True or with_modules=True",
            RankText(part.rank)));
    return;
  }
  if (statistic.source == ModuleSource::kPythonCalls) {
    report.notes.push_back(
        Say("{}: no mstx ranges of the domain Module; the modules are the nn.Module calls"
            " of the Python stack",
            RankText(part.rank)));
  }
  if (statistic.straddlers > 0) {
    report.notes.push_back(Say("{}: {} operators begin in a module and end after it",
                               RankText(part.rank), statistic.straddlers));
  }
  AddImpossibleMfu(RankText(part.rank), part.part.rated, report);
}

// The answer, or of a single rank the whole tree.
void AddLines(const std::vector<StatisticOfRank>& parts, bool tree, std::size_t most,
              Report& report) {
  ScreenLines lines = ModuleList(parts);
  if (lines.empty()) return;
  if (tree) {
    lines.erase(std::ranges::find_if(
                    lines, [](const ScreenLine& line) { return line.Text().starts_with("share"); }),
                lines.end());
    for (ScreenLine& line : ModuleScreen(parts.front().part.rows, most)) {
      lines.push_back(std::move(line));
    }
  }
  std::move(lines.begin(), lines.end(), std::back_inserter(report.lines));
}

void ReduceModuleStatistic(const std::vector<PartOfRank>& parts, const RecipeArguments& arguments,
                           OutputSelection wanted, Report& report) {
  report.as_reference = arguments[kWithoutMfu];
  std::vector<StatisticOfRank> ranks;
  for (const PartOfRank& part : parts) ranks.push_back({part.rank, part.part.statistic});
  if (wanted.sheets) AddSheet(ranks, report);
  for (const PartOfRank& part : parts) AddNotes(part, report);
  const bool empty =
      std::ranges::all_of(ranks, [](const auto& rank) { return rank.part.rows.empty(); });
  if (wanted.screen == Detail::kNone || empty) return;
  const bool one = parts.size() == 1;
  if (!one || wanted.screen == Detail::kAnswer) AddLines(ranks, false, 0, report);
  if (one && wanted.screen == Detail::kMore) AddLines(ranks, true, kScreenLines - 4, report);
  if (wanted.screen != Detail::kAll) return;
  constexpr std::size_t kAllLines = std::numeric_limits<std::size_t>::max();
  for (const StatisticOfRank& rank : ranks) AddLines({rank}, true, kAllLines, report);
}

}  // namespace

Recipe ModuleStatistic() {
  return MakeRecipe<MapModuleStatistic, ReduceModuleStatistic, CheckModules>(
      {.name = "module_statistic",
       .folder = "ModuleStatistic",
       .summary = "device time of the modules of the model, with their operators and kernels",
       .needs = kModuleTables | kMfuTables,
       .options = {kWithoutCounters, kWholeBackward, kVariantsOnce, kAiCores, kAicFrequency,
                   kPeakTflops, kWithoutMfu},
       .can_run = JudgeModules});
}

}  // namespace recipes::module_statistic
}  // namespace mpa
