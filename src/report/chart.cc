// SPDX-License-Identifier: Apache-2.0
#include "mpa/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "mpa/base/text.h"
#include "mpa/report/report.h"

namespace mpa {
namespace {

bool HoldsNumbers(const Column& column) {
  return column.format != Format::kText && column.format != Format::kGeneral;
}

bool HoldsRanks(const Column& column) {
  return IsOneOf(ToLower(column.name), {"rank", "rankid", "rank_id", "rank id"});
}

// Numbers that name something measure nothing.
bool HoldsNames(const Column& column) {
  const std::string lower = ToLower(column.name);
  return HoldsRanks(column) || IsOneOf(lower, {"step", "stepid", "step_id", "timestamp"});
}

// The columns of a box, in order; none where the sheet has no quartiles.
std::vector<std::string> BoxColumns(const std::vector<const Column*>& columns) {
  constexpr std::array<std::array<std::string_view, 2>, 5> kParts = {
      {{"min", "min"}, {"q1", "q1"}, {"med", "median"}, {"q3", "q3"}, {"max", "max"}}};
  std::vector<std::string> found;
  for (const auto& names : kParts) {
    const auto at = std::ranges::find_if(columns, [&](const Column* column) {
      const std::string& title = column->in_workbook.title;
      const std::string lower = ToLower(title.empty() ? column->name : title);
      const std::string_view word = std::string_view(lower).substr(0, lower.find_first_of("(_"));
      return IsOneOf(
          word, {names[0], names[1], fmt::format("{}ns", names[0]), fmt::format("{}ns", names[1])});
    });
    if (at != columns.end()) found.push_back((*at)->name);
  }
  return found.size() == kParts.size() ? found : std::vector<std::string>();
}

}  // namespace

std::optional<Chart> StandardChart(const Sheet& sheet) {
  std::vector<const Column*> columns;
  for (const Column& column : sheet.columns) {
    if (column.name != sheet.text_file.without) columns.push_back(&column);
  }
  const Column* label = columns.empty() ? nullptr : columns.front();
  std::vector<std::string> values;
  for (const Column* column : columns) {
    if (!HoldsNumbers(*column)) {
      if (HoldsNumbers(*label) && !HoldsRanks(*label)) label = column;
    } else if (!HoldsNames(*column)) {
      values.push_back(column->name);
    }
  }
  constexpr std::size_t kMostBars = 4;
  if (values.size() > kMostBars) values.resize(kMostBars);
  if (label != nullptr) std::erase(values, label->name);
  if (values.empty()) return std::nullopt;
  std::vector<std::string> boxes = BoxColumns(columns);
  if (!boxes.empty()) return Chart{Chart::Kind::kBoxes, sheet.name, label->name, std::move(boxes)};
  return Chart{Chart::Kind::kBars, sheet.name, label->name, std::move(values)};
}

std::vector<Chart> ChartsOf(const Report& report) {
  std::vector<Chart> charts;
  for (const Sheet& sheet : report.sheets) {
    const std::size_t before = charts.size();
    for (const Chart& chart : report.charts) {
      if (chart.sheet == sheet.name) charts.push_back(chart);
    }
    if (charts.size() > before) continue;
    if (auto chart = StandardChart(sheet)) charts.push_back(std::move(*chart));
  }
  return charts;
}

}  // namespace mpa
