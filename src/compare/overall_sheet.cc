// SPDX-License-Identifier: Apache-2.0
// OverallMetrics as a sheet: the parts of the end-to-end time, side by side.
#include <utility>

#include "compare_sheet.h"
#include "overall_report.h"
#include "overall_rows.h"

namespace mpa {
namespace {

void AppendOverallSide(Row& row, const OverallValue& value, TimeNs e2e) {
  if (!value.known) {
    row.cells.insert(row.cells.end(), 3, NoNumber::kUnknown);
    return;
  }
  AppendCells(row, value.time, static_cast<double>(value.time) / static_cast<double>(e2e),
              value.number);
}

std::vector<Column> OverallColumns() {
  std::vector<Column> columns = {{.name = "Index",
                                  .format = Format::kInteger,
                                  .width = 40,
                                  .meaning = "The part of the end-to-end time; `level` says how "
                                             "deep it lies in the parts before it."}};
  for (const Side side : {Side::kBase, Side::kComparison}) {
    columns.push_back({.name = "Duration(ms)",
                       .format = Format::kDecimals2,
                       .width = 20,
                       .side = side,
                       .unit = Unit::kNsShownAsMs,
                       .meaning = "Time of the part."});
    columns.push_back({.name = "Duration Ratio",
                       .format = Format::kPercent,
                       .width = 20,
                       .side = side,
                       .meaning = "Share of the end-to-end time, 1 is all."});
    columns.push_back({.name = "Number",
                       .format = Format::kInteger,
                       .width = 10,
                       .side = side,
                       .meaning = "Kernels or calls; empty where none are counted."});
  }
  columns.push_back(Means(TwoDecimals("Diff Duration(ms)"),
                          "Duration of the comparison minus that of the base."));
  columns.push_back(Means(Growth("Diff Ratio", 10), RatioMeaning("Duration")));
  return columns;
}

}  // namespace

Sheet OverallSheet(const CompareInput& input, const OverallMetrics& base,
                   const OverallMetrics& comparison) {
  Sheet sheet = CompareSheet("OverallMetrics", OverallColumns(), input);
  const std::vector<GroupPair> groups = MatchGroups(base, comparison);
  for (const OverallRow& part : OverallRows(base, comparison, groups, input.options().compat)) {
    if (part.label.empty()) continue;
    Row row{.cells = {part.label}, .emphasis = part.emphasis, .indent = part.level};
    AppendOverallSide(row, part.base, base.e2e);
    AppendOverallSide(row, part.comparison, comparison.e2e);
    if (part.base.known && part.comparison.known) {
      AppendCells(
          row, Ms(part.comparison.time - part.base.time),
          Ratio(static_cast<double>(part.base.time), static_cast<double>(part.comparison.time)));
    } else {
      row.cells.insert(row.cells.end(), 2, NoNumber::kUnknown);
    }
    sheet.rows.push_back(std::move(row));
  }
  return sheet;
}

}  // namespace mpa
