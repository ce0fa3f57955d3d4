// SPDX-License-Identifier: Apache-2.0
// What the sheets about operators share.
#include "op_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "compare_sheet.h"
#include "mpa/base/first_seen.h"
#include "mpa/base/language.h"
#include "mpa/capture/monitor.h"
#include "op_names.h"

namespace mpa {

std::vector<OpGroup> GroupByName(const CompareInput& input, const std::vector<OpPair>& pairs) {
  struct Ops {
    NamesOfRow names;
    std::vector<std::uint32_t> rows;
  };
  using OpsByName = FirstSeen<std::string_view, Ops>;
  OpsByName base, comparison;
  const auto add = [&](Side side, std::optional<std::uint32_t> op, OpsByName& ops) {
    if (!op) return;
    const RankTrace& trace = input.Trace(side);
    const std::string_view name = trace.strings.View(trace.host_ops.name[*op]);
    Ops& of_name = ops[RowKeyOf(name, input.options())];
    of_name.names.Add(name);
    of_name.rows.push_back(*op);
  };
  for (const OpPair& pair : pairs) {
    add(Side::kBase, pair.base, base);
    add(Side::kComparison, pair.comparison, comparison);
  }
  std::vector<OpGroup> groups;
  Join(base, comparison, [&](std::string_view, const Ops* before, const Ops* after) {
    NamesOfRow names;
    OpGroup& group = groups.emplace_back();
    for (const auto& [ops, rows] :
         {std::pair(before, &group.base), std::pair(after, &group.comparison)}) {
      if (ops == nullptr) continue;
      names.Add(ops->names);
      *rows = ops->rows;
    }
    group.name = names.Text();
  });
  return groups;
}

namespace {

Row OpPairRow(const CompareInput& input, std::size_t number, double unit,
              const std::function<OpDetails(Side, std::size_t)>& details_of) {
  constexpr std::size_t kCells = 13;
  const OpPair& pair = input.MatchedOps()[number];
  Row row;
  row.cells.reserve(kCells);
  row.cells.emplace_back(static_cast<std::int64_t>(number + 1));
  bool known = true;
  const auto append_side = [&](Side side, std::optional<std::uint32_t> op) {
    if (!op) {
      AppendCells(row, Cell(), Cell(), Cell(), "", 0.0);
      return ExactSum();
    }
    const RankTrace& trace = input.Trace(side);
    const HostOps& ops = trace.host_ops;
    for (const StringId text : {ops.name[*op], ops.shapes[*op], ops.types[*op]})
      row.cells.emplace_back(std::string(trace.strings.View(text)));
    OpDetails details = details_of(side, *op);
    known = known && details.known;
    AppendCells(row, std::move(details.lines),
                details.known ? Cell(details.sum.In(unit)) : NoNumber::kUnknown);
    return details.sum;
  };
  const ExactSum base = append_side(Side::kBase, pair.base);
  const ExactSum comparison = append_side(Side::kComparison, pair.comparison);
  if (known) {
    AppendCells(row, (comparison - base).In(unit), GrowthRatio(base.In(1), comparison.In(1)));
  } else {
    row.cells.insert(row.cells.end(), 2, NoNumber::kUnknown);
  }
  return row;
}

}  // namespace

Sheet OpPairSheet(const CompareInput& input, std::string name, Column details_column,
                  const Column& sum_column, double unit,
                  std::function<OpDetails(Side, std::size_t)> details_of) {
  const std::string& sum = sum_column.name;
  const std::size_t last_word = sum.rfind(' ') + 1;  // "Device Duration(us)": npos + 1 is 0
  const std::string what = sum.substr(0, sum.find('('));
  Sheet sheet = CompareSheet(
      std::move(name),
      {{PlainColumn("Order Id", kOrderMeaning, 10)},
       ForBothSides(
           {BoldColumn("Operator Name",
                       "The operator that was called; empty where this side lacks the call."),
            PlainColumn("Input Shape", "Shapes of the operator's inputs."),
            PlainColumn("Input Type", "Data types of the operator's inputs."),
            std::move(details_column), sum_column}),
       {Difference("Diff " + sum.substr(last_word),
                   fmt::format("{} of the comparison minus that of the base.", what)),
        Growth("Diff Ratio", RatioMeaning(what))}},
      input);
  sheet.rows = Rows(input.MatchedOps().size(),
                    [&input, unit, details_of = std::move(details_of)](std::size_t i) {
                      return OpPairRow(input, i, unit, details_of);
                    });
  return sheet;
}

bool HaveOperators(const CompareInput& input, Report& report) {
  bool all = true;
  for (const Side side : {Side::kBase, Side::kComparison}) {
    if (!input.Trace(side).host_ops.Empty()) continue;
    all = false;
    if (!input.Trace(side).HasTimeline()) continue;  // named when it was read
    report.notes.push_back(
        IsOfMonitor(input.Path(side))
            ? Say("{}: no host operators, so operators, modules, their memory and API times are"
                  " unknown",
                  input.Path(side))
            : Say("{}: no host operators, so operators, modules, their memory and API times are"
                  " unknown; collect with ProfilerActivity.CPU",
                  input.Path(side)));
  }
  return all;
}

}  // namespace mpa
