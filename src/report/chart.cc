// SPDX-License-Identifier: Apache-2.0
#include "mpa/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "mpa/base/text.h"
#include "mpa/report/change_tree.h"
#include "mpa/report/gate_report.h"
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
  constexpr std::size_t kMaxBars = 4;
  if (values.size() > kMaxBars) values.resize(kMaxBars);
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

// Drawings of what changed.

PageChart ChangeChart(const ChangeNode& whole) {
  constexpr std::size_t kMaxChanges = 12;
  PageChart chart{
      .kind = PageChart::Kind::kWaterfall,
      .title = fmt::format("What changed, {}: from the base to the comparison", whole.name),
      .unit = "ms",
      .label = "part"};
  PageSeries changes{.name = "time"};
  const auto add = [&](std::string label, TimeNs time) {
    chart.labels.push_back(std::move(label));
    changes.values.push_back(InMs(time));
  };
  std::vector<ChangeNode> categories = CategoriesOf(whole);
  std::erase_if(categories, [](const ChangeNode& category) { return category.Change() == 0; });
  add("base", whole.base);
  TimeNs left = whole.Change();
  for (std::size_t i = 0; i < std::min(categories.size(), kMaxChanges); ++i) {
    if (categories[i].kind == kRemainder) continue;
    add(categories[i].name, categories[i].Change());
    left -= categories[i].Change();
  }
  if (left != 0) add("everything else", left);
  add("comparison", whole.comparison);
  chart.series.push_back(std::move(changes));
  return chart;
}

namespace {

// The percent of "3 % and 200.0 us"; empty: the limit has none.
std::optional<double> PercentOf(const std::string& limit) {
  double percent = 0;
  const auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), percent);
  const std::string_view rest(end, static_cast<std::size_t>(limit.data() + limit.size() - end));
  if (error != std::errc() || !rest.starts_with(" %")) return std::nullopt;
  return percent;
}

}  // namespace

PageChart RunsChart(const GateReport& gate) {
  PageChart chart{.kind = PageChart::Kind::kDots,
                  .title = "The runs of each metric, in percent of the base's median",
                  .unit = "%",
                  .label = "metric",
                  .limit = "the limit is",
                  .band = "noise of the runs"};
  PageSeries base{.name = "base", .tint = Tint::kBase}, comparison{.name = "comparison"};
  for (const GateMetric& metric : gate.metrics) {
    if (metric.base <= 0 || metric.comparison_runs.empty()) continue;
    const auto whole = static_cast<double>(metric.base);
    const auto percents = [&](const std::vector<std::int64_t>& runs) {
      std::vector<double> dots;
      for (const std::int64_t run : runs) dots.push_back(100 * static_cast<double>(run) / whole);
      return dots;
    };
    chart.labels.push_back(metric.name);
    base.dots.push_back(percents(metric.base_runs));
    comparison.dots.push_back(percents(metric.comparison_runs));
    const std::optional<double> percent = PercentOf(metric.limit);
    chart.limits.push_back(percent ? std::optional(100 + *percent) : std::nullopt);
    const double noise = 200 * metric.noise / whole;  // two standard deviations
    chart.bands.push_back(noise > 0 ? std::optional(std::pair(100 - noise, 100 + noise))
                                    : std::nullopt);
  }
  chart.series = {std::move(base), std::move(comparison)};
  return chart;
}

}  // namespace mpa
