// SPDX-License-Identifier: Apache-2.0
// Operators of two captures side by side, by name and one by one; where both captures know their
// modules, the modules instead.
#include <fmt/format.h>

#include <array>

#include "compare_sheet.h"
#include "mpa/compare/comparison.h"
#include "mpa/measure/op_tree.h"
#include "mpa/model/launches.h"
#include "op_groups.h"

namespace mpa::comparisons {
namespace {

// Where nothing of the device was recorded, operators that take no time on it would look as if they
// did nothing there.
bool KnowsDeviceTimes(const CompareInput& input, Side side) {
  const RankTrace& trace = input.Trace(side);
  const bool has_work =
      !trace.kernels.Empty() || !trace.device_tasks.Empty() || !trace.communications.Empty();
  return KnowsLaunches(trace) && (has_work || input.options().compat);
}

ExactSum TimeOf(const OpTree& tree, std::size_t op) {
  ExactSum time;
  tree.VisitWork(op, [&](const DeviceWork& work) { time += work.Time(); });
  return time;
}

Sheet StatisticSheet(const CompareInput& input) {
  const auto of_side = [&](Side side, const char* name, double width) {
    return ForSide(
        side,
        {Decimals(fmt::format("{} Device Duration(ms)", name),
                  "Time of the device work that the operator's calls launched, in ms.", width),
         PlainColumn(fmt::format("{} Operator Number", name), "Number of calls of the operator.",
                     width)});
  };
  Sheet sheet = CompareSheet(
      "OperatorCompareStatistic",
      {{PlainColumn("Top", kOrderMeaning, 10), BoldColumn("Operator Name", "The operator.")},
       of_side(Side::kBase, "Base", 25),
       of_side(Side::kComparison, "Comparison", 30),
       {Difference("Diff Duration(ms)",
                   "Device time of the comparison minus that of the base, in ms."),
        Growth("Diff Ratio", RatioMeaning("Device time"))}},
      input);
  sheet.least_change = LeastChange(input, RowsOf::kAllSteps, 1e6);
  for (const OpGroup& group : GroupByName(input, input.MatchedOps())) {
    Row row{{Cell(), group.name}};
    std::array<ExactSum, 2> times;
    bool all_known = true;
    for (const Side side : {Side::kBase, Side::kComparison}) {
      ExactSum& time = times[side == Side::kBase ? 0 : 1];
      for (const std::size_t op : group.Of(side)) time += TimeOf(input.Ops(side), op);
      const bool known = group.Of(side).empty() || KnowsDeviceTimes(input, side);
      all_known = all_known && known;
      row.cells.push_back(known ? Cell(time.Ms()) : NoNumber::kUnknown);
      row.cells.emplace_back(static_cast<std::int64_t>(group.Of(side).size()));
    }
    if (all_known) {
      AppendCells(row, (times[1] - times[0]).Ms(), GrowthRatio(times[0].Ns(), times[1].Ns()));
    } else {
      row.cells.insert(row.cells.end(), 2, NoNumber::kUnknown);
    }
    sheet.rows.push_back(std::move(row));
  }
  const std::size_t difference = sheet.columns.size() - 2;
  OrderRows(input, sheet, difference);
  return sheet;
}

Sheet DetailSheet(const CompareInput& input) {
  Sheet sheet = OpPairSheet(
      input, "OperatorCompare",
      PlainColumn("Kernel Details", "Device work that the operator launched, one piece per line."),
      Decimals("Device Duration(us)", "Time of the device work that the operator launched, in us."),
      1e3, [&input](Side side, std::size_t op) {
        OpDetails details{.known = KnowsDeviceTimes(input, side)};
        input.Ops(side).VisitWork(op, [&](const DeviceWork& work) {
          details.sum += work.Time();
          details.lines += DescribeWork(input.Trace(side), work);
        });
        return details;
      });
  sheet.least_change = LeastChange(input, RowsOf::kOneStep, 1e3);
  return sheet;
}

void CompareOperators(const CompareInput& input, Report& report) {
  const bool known =
      KnowsDeviceTimes(input, Side::kBase) && KnowsDeviceTimes(input, Side::kComparison);
  if (known && input.options().modules && CompareModules(input, report)) return;
  if (!HaveOperators(input, report) && input.MatchedOps().empty()) {
    return;
  }
  report.sheets.push_back(StatisticSheet(input));
  if (input.options().details) report.sheets.push_back(DetailSheet(input));
}

Verdict JudgeOperators(const RankFacts& facts) {
  return JudgeHost(facts)
      .AddLack(facts.recorded.device_tasks == Recorded::kNo,
               "no device activity was recorded: operators have no device times",
               DeviceSetting(facts))
      .AddLack(facts.recorded.stacks == Recorded::kNo,
               "no modules and no call stacks: operators are compared one by one",
               "with_stack=True or with_modules=True");
}

}  // namespace

Comparison Operators() {
  return {"operator",
          "operators",
          "Operators and the device time they cause, by module if the captures contain modules",
          Tables::kHostOps | Tables::kOpDetails | Tables::kOpStacks | Tables::kLaunches |
              Tables::kKernels | Tables::kDeviceTasks | Tables::kCommunications |
              Tables::kPythonCalls | Tables::kBackwardLinks | Tables::kQueuedWork,
          CompareOperators,
          JudgeOperators};
}

}  // namespace mpa::comparisons
