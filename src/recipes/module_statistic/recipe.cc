// SPDX-License-Identifier: Apache-2.0
// Modules of the model with their operators, kernels and device time, of every rank.
#include "mpa/recipe/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "module_screen.h"
#include "mpa/measure/module_statistic.h"
#include "mpa/mfu/chip_of_rank.h"
#include "mpa/mfu/kernel_mfu.h"
#include "mpa/mfu/module_mfu.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/module_sheet.h"

namespace mpa::recipes {
namespace {

std::any MapModuleStatistic(const RankTrace& trace, const RecipeArguments& arguments) {
  ModuleStatisticOptions options;
  options.without_counters = arguments.contains("without_counters");
  options.whole_backward = arguments.contains("whole_backward");
  if (arguments.contains("variants_once")) options.variants = VariantNaming::kOnce;
  const ThreadGroups groups(trace);
  const AllOpWork work = FindOpWork(trace);
  mpa::ModuleStatistic statistic = SumModules(trace, groups, work, options);
  const ChipPeak chip = ChipOf(trace, arguments);
  const bool compat = arguments.contains(kCompat);
  if (!compat &&
      PeakOf(chip, TypeClass::kFp16).gap == PeakGap::kNone) {  // otherwise no kernel has one
    const RankMfu mfu = FindKernelMfu(trace, groups, work, chip);
    for (ModuleStatisticRow& row : statistic.rows) row.mfu = AverageMfu(row, mfu);
  }
  for (ModuleStatisticRow& row : statistic.rows) row.work = {};
  return statistic;
}

const std::vector<ModuleStatisticRow>& RowsOf(const RankPart& part) {
  return std::any_cast<const mpa::ModuleStatistic&>(part.part).rows;
}

Sheet TableOf(const std::vector<RankPart>& parts) {
  constexpr ModuleColumnNames kNames = {
      "parentModule",          "module", "opName", "kernelList", "totalKernelDuration(ns)",
      "avgKernelDuration(ns)", "opCount"};
  const bool with_mfu = std::any_of(parts.begin(), parts.end(),
                                    [](const RankPart& part) { return HasMfu(RowsOf(part)); });
  Sheet table;
  table.name = "ModuleStatistic";
  table.columns = ModuleColumns(kNames);
  table.columns.push_back({.name = "rankID", .format = Format::kInteger});
  // Behind the columns of the Python tool, which scripts may know by their position.
  if (with_mfu) table.columns.push_back({.name = "avgMFU", .format = Format::kText});
  for (const RankPart& part : parts) {
    for (const ModuleStatisticRow& row : RowsOf(part)) {
      table.rows.push_back({ModuleCells(row)});
      table.rows.back().cells.emplace_back(part.rank);
      if (with_mfu) table.rows.back().cells.emplace_back(row.mfu);
    }
  }
  return table;
}

RankWorkbook WorkbookOf(const RankPart& part) {
  constexpr ModuleColumnNames kNames = {
      "Parent Module",           "Module",  "Op Name", "Kernel List", "Total Kernel Duration(ns)",
      "Avg Kernel Duration(ns)", "Op Count"};
  const std::vector<ModuleStatisticRow>& rows = RowsOf(part);
  const bool with_mfu = HasMfu(rows);
  Sheet sheet;
  sheet.name = "Sheet1";
  sheet.look = Look::kList;
  sheet.columns = ModuleColumns(kNames);
  if (with_mfu) sheet.columns.push_back({.name = "Avg MFU", .format = Format::kText});
  for (const ModuleStatisticRow& row : rows) {
    sheet.rows.push_back({ModuleCells(row)});
    if (with_mfu) sheet.rows.back().cells.emplace_back(row.mfu);
  }
  return {fmt::format("module_statistic_{}", part.rank), {std::move(sheet)}};
}

std::string Milliseconds(TimeNs time) {
  return fmt::format("{:.3f} ms", static_cast<double>(time) / 1e6);
}

// Where the kernel time of a rank went, for the screen.
std::string CoverageText(const mpa::ModuleStatistic& statistic) {
  return fmt::format(
      "{} of kernels in modules ({}), {} outside, {} of unknown operators",
      Milliseconds(statistic.coverage.in_modules),
      statistic.source == ModuleSource::kMstxRanges ? "mstx ranges" : "nn.Module calls",
      Milliseconds(statistic.coverage.outside_modules),
      Milliseconds(statistic.coverage.without_op));
}

RecipeResult ReduceModuleStatistic(const std::vector<RankPart>& parts, const RecipeArguments&) {
  RecipeResult result;
  result.tables.push_back(TableOf(parts));
  for (const RankPart& part : parts) {
    const auto& statistic = std::any_cast<const mpa::ModuleStatistic&>(part.part);
    if (statistic.rows.empty()) {
      result.notes.push_back(
          fmt::format("{}: no modules with kernels; mark them with mstx "
                      "ranges of the domain Module, or collect with "
                      "with_stack=True or with_modules=True",
                      RankText(part.rank)));
      continue;
    }
    if (statistic.source == ModuleSource::kPythonCalls) {
      result.notes.push_back(
          fmt::format("{}: no mstx ranges of the domain Module; the modules are the nn.Module "
                      "calls of the Python stack",
                      RankText(part.rank)));
    }
    if (statistic.straddlers > 0) {
      result.notes.push_back(fmt::format("{}: {} operators begin in a module and end behind it",
                                         RankText(part.rank), statistic.straddlers));
    }
    result.workbooks.push_back(WorkbookOf(part));
    constexpr std::size_t kMostLines = 30;
    result.screen.push_back(fmt::format("{}: {}", RankText(part.rank), CoverageText(statistic)));
    for (std::string& line : ModuleScreen(statistic.rows, kMostLines)) {
      result.screen.push_back(std::move(line));
    }
  }
  return result;
}

}  // namespace

Recipe ModuleStatistic() {
  std::vector<RecipeParameter> parameters = {
      {"without_counters", "",
       "Take kernels for the same that a counter in their names tells apart, such as "
       "trans_TransData_17"},
      {"whole_backward", "",
       "Take the backward pass of a module for one call, also where that of other modules "
       "runs in between"},
      {"variants_once", "",
       "Number calls of a module with different operators once in the rank, not anew where "
       "they follow one another"}};
  const std::vector<RecipeParameter> chip = ChipParameters();
  parameters.insert(parameters.end(), chip.begin(), chip.end());
  parameters.push_back({kCompat, "", "The columns of the Python tool: no avgMFU"});
  return {"module_statistic",
          "ModuleStatistic",
          "modules with their operators, kernels and device time",
          kModuleTables | kMfuTables,
          std::move(parameters),
          MapModuleStatistic,
          ReduceModuleStatistic};
}

}  // namespace mpa::recipes
