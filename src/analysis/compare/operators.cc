// SPDX-License-Identifier: Apache-2.0
// Operators of two captures side by side, by name and one by one; where both captures know their
// modules, the modules instead.
#include <fmt/format.h>

#include "compare_sheet.h"
#include "modules.h"
#include "mpa/analysis/comparison.h"
#include "op_groups.h"
#include "op_tree.h"

namespace mpa::comparisons {
namespace {

DeviceTime TimeOf(const OpTree& tree, std::size_t op) {
  DeviceTime time;
  tree.VisitWork(op, [&](const DeviceWork& work) { time.Add(work); });
  return time;
}

Sheet StatisticSheet(const CompareInput& input) {
  Sheet sheet =
      CompareSheet("OperatorCompareStatistic", {Text("Top", 10), BoldText("Operator Name")}, input);
  const auto add_side = [&](Side side, const char* name, double width) {
    for (Column column : {Decimals(fmt::format("{} Device Duration(ms)", name), width),
                          Text(fmt::format("{} Operator Number", name), width)}) {
      column.side = side;
      sheet.columns.push_back(std::move(column));
    }
  };
  add_side(Side::kBase, "Base", 25);
  add_side(Side::kComparison, "Comparison", 30);
  sheet.columns.push_back(Decimals("Diff Duration(ms)"));
  sheet.columns.push_back(Growth("Diff Ratio"));
  sheet = CompareSheet(sheet.name, std::move(sheet.columns), input);

  for (const OpGroup& group : GroupByName(input, input.MatchedOps())) {
    Row row{{Cell(), group.name}};
    double ms[2];
    for (const Side side : {Side::kBase, Side::kComparison}) {
      DeviceTime time;
      for (const std::size_t op : group.Of(side)) time.Add(TimeOf(input.Ops(side), op));
      ms[side == Side::kBase ? 0 : 1] = time.Ms();
      row.cells.emplace_back(time.Ms());
      row.cells.emplace_back(static_cast<std::int64_t>(group.Of(side).size()));
    }
    row.cells.emplace_back(DiffRounded(ms[0], ms[1]));
    row.cells.emplace_back(DiffRatio(ms[0], ms[1]));
    sheet.rows.push_back(std::move(row));
  }
  SortByDifference(sheet);
  return sheet;
}

Sheet DetailSheet(const CompareInput& input) {
  std::vector<Column> columns = {Text("Order Id", 10)};
  for (Column& column :
       ForBothSides({BoldText("Operator Name"), Text("Input Shape"), Text("Input Type"),
                     Text("Kernel Details"), Decimals("Device Duration(us)")})) {
    columns.push_back(std::move(column));
  }
  columns.push_back(Decimals("Diff Duration(us)"));
  columns.push_back(Growth("Diff Ratio"));
  Sheet sheet = CompareSheet("OperatorCompare", std::move(columns), input);
  for (const OpPair& pair : input.MatchedOps()) {
    Row row{{Cell()}};
    double us[2];
    for (const Side side : {Side::kBase, Side::kComparison}) {
      const auto op = side == Side::kBase ? pair.base : pair.comparison;
      AppendOperator(input, side, op, row);
      DeviceTime time;
      std::string details;
      if (op) {
        input.Ops(side).VisitWork(*op, [&](const DeviceWork& work) {
          time.Add(work);
          details += DescribeWork(input.Trace(side), work);
        });
      }
      us[side == Side::kBase ? 0 : 1] = time.Us();
      row.cells.emplace_back(std::move(details));
      row.cells.emplace_back(time.Us());
    }
    row.cells.emplace_back(DiffRounded(us[0], us[1]));
    row.cells.emplace_back(DiffRatio(us[0], us[1]));
    sheet.rows.push_back(std::move(row));
  }
  NumberRows(sheet);
  return sheet;
}

void Run(const CompareInput& input, Report& report) {
  if (input.options().modules && CompareModules(input, report)) return;
  if (!HaveOperators(input, report) && input.MatchedOps().empty()) {
    return;
  }
  report.sheets.push_back(StatisticSheet(input));
  if (input.options().details) report.sheets.push_back(DetailSheet(input));
}

}  // namespace

Comparison Operators() {
  return {"operator",
          "Operators and the device time they cause; per module where modules are known",
          Tables::kHostOps | Tables::kOpDetails | Tables::kLaunches | Tables::kKernels |
              Tables::kDeviceTasks | Tables::kCommunications | Tables::kPythonCalls |
              Tables::kBackwardLinks | Tables::kQueuedWork,
          Run};
}

}  // namespace mpa::comparisons
