// SPDX-License-Identifier: Apache-2.0
// What the sheets about operators share.
#include "op_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "compare_sheet.h"

namespace mpa {

std::vector<OpGroup> GroupByName(const CompareInput& input, const std::vector<OpPair>& pairs) {
  std::vector<OpGroup> groups;
  std::unordered_map<std::string_view, std::size_t> group_of_name;  // texts of the string pools
  const auto add = [&](Side side, std::size_t op) {
    const RankTrace& trace = input.Trace(side);
    const std::string_view name = trace.strings.View(trace.host_ops.name[op]);
    const auto [found, is_new] = group_of_name.try_emplace(name, groups.size());
    if (is_new) groups.push_back({.name = std::string(name), .base = {}, .comparison = {}});
    OpGroup& group = groups[found->second];
    (side == Side::kBase ? group.base : group.comparison).push_back(op);
  };
  for (const OpPair& pair : pairs) {
    if (pair.base) add(Side::kBase, *pair.base);
  }
  for (const OpPair& pair : pairs) {
    if (pair.comparison) add(Side::kComparison, *pair.comparison);
  }
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
