// SPDX-License-Identifier: Apache-2.0
// Modules of the model with their operators, kernels and device time, of every rank.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "module_screen.h"
#include "module_statistic.h"
#include "mpa/analysis/recipe.h"

namespace mpa::recipes {
namespace {

std::any Map(const RankTrace& trace, const RecipeArguments& arguments) {
  ModuleStatisticOptions options;
  options.without_counters = arguments.contains("without_counters");
  options.whole_backward = arguments.contains("whole_backward");
  if (arguments.contains("variants_once")) options.variants = VariantNaming::kOnce;
  mpa::ModuleStatistic statistic = SumModules(trace, options);
  for (ModuleStatisticRow& row : statistic.rows) row.work = {};  // what utilisation would need
  return statistic;
}

// The columns under the names of a kind of output, texts first.
std::vector<Column> Columns(const std::array<const char*, 7>& names) {
  std::vector<Column> columns;
  constexpr std::array kWidths = {40.0, 40.0, 40.0, 50.0, 10.0, 10.0, 10.0};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Format format = i < 4 ? Format::kText : i < 6 ? Format::kDecimals2 : Format::kInteger;
    columns.push_back({.name = names[i], .format = format, .width = kWidths[i]});
    columns.back().merges_equal = i < 2;
  }
  return columns;
}

std::vector<Cell> CellsOf(const ModuleStatisticRow& row) {
  return {row.parent,  row.module, row.op, row.kernels, static_cast<double>(row.total),
          row.average, row.count};
}

Sheet TableOf(const std::vector<RankPart>& parts) {
  Sheet table;
  table.name = "ModuleStatistic";
  table.columns = Columns({"parentModule", "module", "opName", "kernelList",
                           "totalKernelDuration(ns)", "avgKernelDuration(ns)", "opCount"});
  table.columns.push_back({.name = "rankID", .format = Format::kInteger});
  for (const RankPart& part : parts) {
    for (const ModuleStatisticRow& row :
         std::any_cast<const mpa::ModuleStatistic&>(part.part).rows) {
      table.rows.push_back({CellsOf(row)});
      table.rows.back().cells.emplace_back(part.rank);
    }
  }
  return table;
}

RankWorkbook WorkbookOf(const RankPart& part) {
  RankWorkbook workbook;
  workbook.stem = fmt::format("module_statistic_{}", part.rank);
  workbook.sheet.name = "Sheet1";
  workbook.sheet.look = Look::kList;
  workbook.sheet.columns =
      Columns({"Parent Module", "Module", "Op Name", "Kernel List", "Total Kernel Duration(ns)",
               "Avg Kernel Duration(ns)", "Op Count"});
  for (const ModuleStatisticRow& row : std::any_cast<const mpa::ModuleStatistic&>(part.part).rows) {
    workbook.sheet.rows.push_back({CellsOf(row)});
  }
  return workbook;
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

RecipeResult Reduce(const std::vector<RankPart>& parts, const RecipeArguments&) {
  RecipeResult result;
  result.tables.push_back(TableOf(parts));
  for (const RankPart& part : parts) {
    const auto& statistic = std::any_cast<const mpa::ModuleStatistic&>(part.part);
    if (statistic.rows.empty()) {
      result.notes.push_back(
          fmt::format("rank {}: no modules with kernels; mark them with mstx "
                      "ranges of the domain Module, or collect with "
                      "with_stack=True or with_modules=True",
                      part.rank));
      continue;
    }
    if (statistic.straddlers > 0) {
      result.notes.push_back(
          fmt::format("rank {}: {} operators begin in a module and end behind it", part.rank,
                      statistic.straddlers));
    }
    result.workbooks.push_back(WorkbookOf(part));
    constexpr std::size_t kMostLines = 30;
    result.screen.push_back(fmt::format("rank {}: {}", part.rank, CoverageText(statistic)));
    for (std::string& line : ModuleScreen(statistic.rows, kMostLines)) {
      result.screen.push_back(std::move(line));
    }
  }
  return result;
}

}  // namespace

Recipe ModuleStatistic() {
  return {"module_statistic",
          "ModuleStatistic",
          "modules with their operators, kernels and device time",
          Tables::kHostOps | Tables::kLaunches | Tables::kKernels | Tables::kScheduleKernels |
              Tables::kCommunications | Tables::kMstx | Tables::kPythonCalls |
              Tables::kBackwardLinks | Tables::kQueuedWork,
          {{"without_counters", "",
            "Take kernels for the same that a counter in their names tells apart, such as "
            "trans_TransData_17"},
           {"whole_backward", "",
            "Take the backward pass of a module for one call, also where that of other modules "
            "runs in between"},
           {"variants_once", "",
            "Number calls of a module with different operators once in the rank, not anew where "
            "they follow one another"}},
          Map,
          Reduce};
}

}  // namespace mpa::recipes
