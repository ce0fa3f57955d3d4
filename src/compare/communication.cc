// SPDX-License-Identifier: Apache-2.0
// Calls and durations of the collectives, by kind, and of the tasks that they consist of.
#include <utility>

#include "compare_sheet.h"
#include "mpa/base/language.h"
#include "mpa/compare/comparison.h"
#include "mpa/measure/collectives.h"
#include "op_groups.h"

namespace mpa::comparisons {
namespace {

std::vector<std::vector<Column>> Columns() {
  return {
      {PlainColumn("Order Id", kOrderMeaning, 10)},
      ForBothSides(
          {BoldColumn("Communication OP Name", "The kind of collective.", 25),
           PlainColumn("Task Name",
                       "Kind of the tasks inside the collectives; empty in the row that sums"
                       " whole collectives."),
           PlainColumn("Calls", "Number of collectives or tasks.", 10),
           Decimals("Total Duration(us)", "Time of all collectives or tasks of the row, in us.",
                    17),
           Decimals("Avg Duration(us)", "Mean time of one collective or task, in us.", 17),
           Decimals("Max Duration(us)", "Time of the longest collective or task, in us.", 17),
           Decimals("Min Duration(us)", "Time of the shortest collective or task, in us.", 17)}),
      {Difference("Diff Duration(us)",
                  "Total duration of the comparison minus that of the base, in us."),
       Growth("Diff Ratio", RatioMeaning("Total duration"))}};
}

// The cells of one side; blank but for the total when it has nothing of that name.
void AppendSide(const Cell& operation, const Cell& task, const Durations* durations, Row& row) {
  if (durations == nullptr) {
    row.cells.insert(row.cells.end(), {Cell(), Cell(), Cell(), 0.0, Cell(), Cell(), Cell()});
    return;
  }
  const double total = durations->sum.Us();
  row.cells.insert(row.cells.end(), {operation, task, durations->count, total,
                                     total / static_cast<double>(durations->count),
                                     durations->max.Us(), durations->min.Us()});
}

void AddCollective(const std::string& kind, const Collective* base, const Collective* comparison,
                   Sheet& sheet) {
  const auto calls = [](const Collective* side) { return side ? &side->calls : nullptr; };
  const auto total = [](const Collective* side) { return side ? side->calls.sum : ExactSum(); };
  Row sum{{Cell()}};
  AppendSide(kind, Cell(), calls(base), sum);
  AppendSide(kind, Cell(), calls(comparison), sum);
  AppendCells(sum, (total(comparison) - total(base)).Us(),
              GrowthRatio(total(base).Ns(), total(comparison).Ns()));
  sheet.rows.push_back(std::move(sum));

  const FirstSeen<std::string_view, Durations> none;
  Join(base ? base->tasks : none, comparison ? comparison->tasks : none,
       [&](std::string_view task, const Durations* before, const Durations* after) {
         Row row{{Cell()}};
         AppendSide("|", std::string(task), before, row);
         AppendSide("|", std::string(task), after, row);
         row.cells.resize(sheet.columns.size());
         sheet.rows.push_back(std::move(row));
       });
}

// Not of one of its tasks.
bool IsOfCollective(const Row& row) {
  constexpr std::size_t kTaskOfBase = 2, kTaskOfComparison = 9;
  const auto is_empty = [&](std::size_t column) {
    return std::holds_alternative<std::monostate>(row.cells[column]);
  };
  return is_empty(kTaskOfBase) && is_empty(kTaskOfComparison);
}

void CompareCommunication(const CompareInput& input, Report& report) {
  const auto base = SumCollectives(input.Trace(Side::kBase));
  const auto comparison = SumCollectives(input.Trace(Side::kComparison));
  if (base.Empty() && comparison.Empty()) {
    const auto lacks_trace = [&](Side side) { return !input.Trace(side).HasTimeline(); };
    if (lacks_trace(Side::kBase) || lacks_trace(Side::kComparison)) return;  // named when read
    report.notes.emplace_back(Translated(
        "CommunicationCompare: left out, neither capture recorded communication (a run on one"
        " device has none; otherwise collect with profiler_level Level1)"));
    return;
  }
  Sheet sheet = CompareSheet("CommunicationCompare", Columns(), input);
  sheet.least_change = LeastChange(input, RowsOf::kAllSteps, 1e3);
  Join(base, comparison,
       [&](const std::string& kind, const Collective* before, const Collective* after) {
         AddCollective(kind, before, after, sheet);
       });
  OrderRows(input, sheet, std::nullopt, IsOfCollective);
  report.sheets.push_back(std::move(sheet));
}

Verdict JudgeCollectives(const RankFacts& facts) {
  const bool is_gpu = facts.kind == CaptureKind::kGpu;
  return JudgeReadable(facts)
      .Refuse(facts.tables_alone, "tables alone do not show single collectives",
              "copy the whole capture")
      .Refuse(facts.recorded.communication == Recorded::kNo, NoCommunication(facts),
              is_gpu ? "" : "profiler_level=Level1")
      .AddLack(!is_gpu && facts.recorded.communication_tasks == Recorded::kNo,
               "no communication tasks: what the collectives are made of is unknown",
               "profiler_level=Level1");
}

}  // namespace

Comparison Communication() {
  return {"communication",
          "communication",
          "Calls and durations of collectives and their tasks",
          Tables::kCommunications | Tables::kCommTasks,
          CompareCommunication,
          JudgeCollectives};
}

}  // namespace mpa::comparisons
