// SPDX-License-Identifier: Apache-2.0
// What the sheets about operators share.
#include "op_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "first_seen.h"

namespace mpa {

std::vector<OpGroup> GroupByName(const CompareInput& input, const std::vector<OpPair>& pairs) {
  using OpsByName = FirstSeen<std::string_view, std::vector<std::size_t>>;
  OpsByName base, comparison;
  const auto add = [&](Side side, std::optional<std::size_t> op, OpsByName& ops) {
    if (!op) return;
    const RankTrace& trace = input.Trace(side);
    ops[trace.strings.View(trace.host_ops.name[*op])].push_back(*op);
  };
  for (const OpPair& pair : pairs) {
    add(Side::kBase, pair.base, base);
    add(Side::kComparison, pair.comparison, comparison);
  }
  std::vector<OpGroup> groups;
  using Ops = std::vector<std::size_t>;
  Join(base, comparison, [&](std::string_view name, const Ops* before, const Ops* after) {
    groups.push_back({std::string(name), before != nullptr ? *before : Ops(),
                      after != nullptr ? *after : Ops()});
  });
  return groups;
}

void AppendOperator(const CompareInput& input, Side side, std::optional<std::size_t> op, Row& row) {
  if (!op) {
    row.cells.resize(row.cells.size() + 3);
    return;
  }
  const RankTrace& trace = input.Trace(side);
  row.cells.emplace_back(std::string(trace.strings.View(trace.host_ops.name[*op])));
  row.cells.emplace_back(std::string(trace.strings.View(trace.host_ops.shapes[*op])));
  row.cells.emplace_back(std::string(trace.strings.View(trace.host_ops.types[*op])));
}

void SortByDifference(Sheet& sheet) {
  const std::size_t column = sheet.columns.size() - 2;
  std::stable_sort(sheet.rows.begin(), sheet.rows.end(), [&](const Row& a, const Row& b) {
    return std::get<double>(a.cells[column]) > std::get<double>(b.cells[column]);
  });
  NumberRows(sheet);
}

void NumberRows(Sheet& sheet) {
  std::int64_t number = 0;
  for (Row& row : sheet.rows) row.cells[0] = ++number;
}

bool HaveOperators(const CompareInput& input, Report& report) {
  bool all = true;
  for (const Side side : {Side::kBase, Side::kComparison}) {
    if (!input.Trace(side).host_ops.Empty()) continue;
    report.notes.push_back(
        fmt::format("{}: no host operators, so there is nothing to tell of operators, modules, "
                    "their memory and API times; collect with ProfilerActivity.CPU",
                    input.Path(side)));
    all = false;
  }
  return all;
}

}  // namespace mpa
