// SPDX-License-Identifier: Apache-2.0
// Time that the host spends in operators, by name.
#include "compare_sheet.h"
#include "mpa/base/time.h"
#include "mpa/compare/comparison.h"
#include "mpa/measure/op_tree.h"
#include "op_groups.h"

namespace mpa::comparisons {
namespace {

struct ApiTimes {
  TimeNs total = 0, self = 0;
  TimeNs each = 0;  ///< of all calls, also of those within others
  std::int64_t calls = 0;

  double AverageNs() const {
    return calls > 0 ? static_cast<double>(each) / static_cast<double>(calls) : 0.0;
  }
};

// The times of the operators of each row. A call within another of its row takes none of its own.
class RowTimes {
 public:
  RowTimes(const OpTree& tree, const std::vector<OpGroup>& rows, Side side, bool compat)
      : tree_(tree), within_(tree.trace().host_ops.Size(), false) {
    if (!compat) FindWithinTheirRow(rows, side);
  }

  ApiTimes Of(const std::vector<std::uint32_t>& ops) const {
    const HostOps& host_ops = tree_.trace().host_ops;
    ApiTimes times{.calls = static_cast<std::int64_t>(ops.size())};
    for (const std::size_t op : ops) {
      const TimeNs dur = host_ops.dur[op];
      times.each += dur;
      if (!within_[op]) times.total += dur;
      times.self += dur;
      for (const std::uint32_t child : tree_.Children(op)) times.self -= host_ops.dur[child];
    }
    return times;
  }

 private:
  // One walk through all trees: chains of calls may be as long as the capture.
  void FindWithinTheirRow(const std::vector<OpGroup>& rows, Side side) {
    std::vector<std::size_t> row_of(within_.size(),
                                    rows.size());  // others share one that nobody asks
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (const std::uint32_t op : rows[row].Of(side)) row_of[op] = row;
    }
    std::vector<std::size_t> open(rows.size() + 1, 0);  // calls around, by row
    struct Visit {
      std::uint32_t op;
      bool leaves;
    };
    std::vector<Visit> visits;
    for (const std::uint32_t outermost : tree_.InOrder()) {
      if (tree_.Parent(outermost) != Nesting::kNone) continue;
      visits.push_back({outermost, false});
      while (!visits.empty()) {
        const Visit visit = visits.back();
        visits.pop_back();
        std::size_t& around = open[row_of[visit.op]];
        if (visit.leaves) {
          --around;
          continue;
        }
        within_[visit.op] = around > 0;
        ++around;
        visits.push_back({visit.op, true});
        for (const std::uint32_t child : tree_.Children(visit.op)) visits.push_back({child, false});
      }
    }
  }

  const OpTree& tree_;
  std::vector<bool> within_;  // another call of its row, by operator
};

// Every operator of one side but the steps: in order of start, of one step level by level.
std::vector<std::uint32_t> AllOpsOf(const OpTree& tree, bool level_by_level) {
  std::vector<std::uint32_t> ops = level_by_level ? tree.Top() : tree.InOrder();
  for (std::size_t at = 0; level_by_level && at < ops.size(); ++at) {
    const auto children = tree.Children(ops[at]);
    ops.insert(ops.end(), children.begin(), children.end());
  }
  std::erase_if(ops, [&](std::uint32_t op) { return tree.IsStep(op); });
  return ops;
}

// Every operator of both sides.
std::vector<OpPair> AllOps(const CompareInput& input) {
  std::vector<OpPair> ops;
  ops.reserve(input.Trace(Side::kBase).host_ops.Size() +
              input.Trace(Side::kComparison).host_ops.Size());
  for (const Side side : {Side::kBase, Side::kComparison}) {
    for (const std::uint32_t op : AllOpsOf(input.Ops(side), input.options().one_step)) {
      OpPair pair;
      (side == Side::kBase ? pair.base : pair.comparison) = op;
      ops.push_back(pair);
    }
  }
  return ops;
}

void CompareApis(const CompareInput& input, Report& report) {
  if (!HaveOperators(input, report)) return;
  Sheet sheet = CompareSheet(
      "ApiCompare",
      {{PlainColumn("Order Id", kOrderMeaning, 10),
        BoldColumn("api name", "The framework operator, or the call on the host.")},
       ForBothSides({AsTotal(TwoDecimals("Total Duration(ms)",
                                         "Host time of all calls, in ms; a call inside another call"
                                         " of the row counts once.")),
                     TwoDecimals("Self Time(ms)",
                                 "Host time of all calls without the calls inside them, in ms."),
                     TwoDecimals("Avg Duration(ms)", "Mean host time of one call, in ms."),
                     PlainColumn("Calls", "Number of calls.")}),
       {Growth("Diff Total Ratio", RatioMeaning("Total duration"), 20, Format::kDecimals2),
        Growth("Diff Self Ratio", RatioMeaning("Self time"), 20, Format::kDecimals2),
        Growth("Diff Avg Ratio", RatioMeaning("Average duration"), 20, Format::kDecimals2),
        Growth("Diff Calls Ratio", RatioMeaning("Number of calls"), 20, Format::kDecimals2)}},
      input);
  sheet.least_change = LeastChange(input, RowsOf::kAllSteps, 1e6);
  const std::vector<OpGroup> groups = GroupByName(input, AllOps(input));
  const bool compat = input.options().compat;
  const RowTimes of_base(input.Ops(Side::kBase), groups, Side::kBase, compat);
  const RowTimes of_comparison(input.Ops(Side::kComparison), groups, Side::kComparison, compat);
  for (const OpGroup& group : groups) {
    const ApiTimes base = of_base.Of(group.base);
    const ApiTimes comparison = of_comparison.Of(group.comparison);
    Row row{{Cell(), group.name}};
    for (const ApiTimes& times : {base, comparison}) {
      AppendCells(row, InMs(times.total), InMs(times.self), times.AverageNs() / 1e6, times.calls);
    }
    const auto ratio = [&](std::int64_t ApiTimes::*number) {
      return GrowthRatio(static_cast<double>(base.*number),
                         static_cast<double>(comparison.*number));
    };
    AppendCells(row, ratio(&ApiTimes::total), ratio(&ApiTimes::self),
                GrowthRatio(base.AverageNs(), comparison.AverageNs()), ratio(&ApiTimes::calls));
    sheet.rows.push_back(std::move(row));
  }
  OrderRows(input, sheet);
  report.sheets.push_back(std::move(sheet));
}

}  // namespace

Comparison Api() {
  return {"api",
          "api",
          "Host time of operators by name",
          Tables::kHostOps | Tables::kLaunches | Tables::kKernels | Tables::kDeviceTasks |
              Tables::kCommunications,
          CompareApis,
          JudgeHost};
}

}  // namespace mpa::comparisons
