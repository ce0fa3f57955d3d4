// SPDX-License-Identifier: Apache-2.0
#include "mpa/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/enum_name.h"
#include "mpa/base/language.h"
#include "mpa/report/change_tree.h"
#include "mpa/report/gate_report.h"

namespace mpa {

std::string_view NameOf(Measured measured) {
  return EnumName<Measured::kMhz>(
      measured, {"ns", "us", "ms", "bytes", "", "percent", "share", "GB/s", "MHz"});
}

std::string_view NameOf(Chart::Kind kind) {
  return EnumName<Chart::Kind::kHeat>(kind, {"bars", "stacked", "boxes", "heat"});
}

std::string_view NameOf(Chart::SameLabel same) {
  return EnumName<Chart::SameLabel::kMean>(same, {"never", "sum", "mean"});
}

std::string_view NameOf(Chart::Order order) {
  return EnumName<Chart::Order::kFarthestFirst>(order, {"written", "largest", "farthest"});
}

ChartUnit ChartUnitOf(Measured measured, double largest) {
  const auto of_time = [&](double ns) -> ChartUnit {
    constexpr double kUs = 1e3, kMs = 1e6, kS = 1e9;
    const double most = largest * ns;
    if (most >= 10 * kS) return {"s", kS / ns};
    if (most >= kMs) return {"ms", kMs / ns};
    return {"us", kUs / ns};
  };
  switch (measured) {
    case Measured::kNs:
      return of_time(1);
    case Measured::kUs:
      return of_time(1e3);
    case Measured::kMs:
      return of_time(1e6);
    case Measured::kBytes:
      return largest >= 1e9 ? ChartUnit{"GB", 1e9} : ChartUnit{"MB", 1e6};
    case Measured::kPercent:
      return {"%", 1};
    case Measured::kShare:
      return {"%", 0.01};
    case Measured::kGbPerSecond:
      return {"GB/s", 1};
    case Measured::kMhz:
      return {"MHz", 1};
    case Measured::kCount:
      break;
  }
  return {"count", 1};
}

Chart LargestBars(std::string title, std::vector<std::string> labels,
                  std::vector<ChartedColumn> values, Measured measured, Chart::SameLabel same) {
  return {.kind = Chart::Kind::kBars,
          .title = std::move(title),
          .labels = std::move(labels),
          .values = std::move(values),
          .measured = measured,
          .same = same,
          .order = Chart::Order::kLargestFirst};
}

Chart BoxesOf(std::string title, std::vector<std::string> labels,
              const std::array<const char*, 5>& columns) {
  Chart chart{.kind = Chart::Kind::kBoxes,
              .title = std::move(title),
              .labels = std::move(labels),
              .measured = Measured::kNs,
              .order = Chart::Order::kLargestFirst};
  for (const char* column : columns) chart.values.push_back({column});
  return chart;
}

Chart HeatOf(std::string title, std::string label, std::string across, ChartedColumn value,
             Measured measured, Chart::SameLabel same) {
  return {.kind = Chart::Kind::kHeat,
          .title = std::move(title),
          .labels = {std::move(label)},
          .values = {std::move(value)},
          .measured = measured,
          .same = same,
          .across = std::move(across)};
}

PageChart LanesOf(Timeline timeline) {
  const TimeNs length = timeline.end - timeline.begin;
  PageChart chart{
      .kind = PageChart::Kind::kTimeline,
      .title = std::move(timeline.title),
      .note = std::move(timeline.text),
      .unit = std::string(ChartUnitOf(Measured::kNs, static_cast<double>(length)).name)};
  chart.timeline = std::move(timeline);
  return chart;
}

// Drawings of what changed.

PageChart ChangeChart(const ChangeNode& whole) {
  constexpr std::size_t kMaxChanges = 12;
  PageChart chart{
      .kind = PageChart::Kind::kWaterfall,
      .title = Say("What changed, {}: from the base to the comparison", Translated(whole.name)),
      .unit = "ms",
      .label = Say("part")};
  PageSeries changes{.name = Say("time")};
  const auto add = [&](std::string label, TimeNs time) {
    chart.labels.push_back(std::move(label));
    changes.values.push_back(InMs(time));
  };
  std::vector<ChangeNode> categories = CategoriesOf(whole);
  std::erase_if(categories, [](const ChangeNode& category) { return category.Change() == 0; });
  add(Say("base"), whole.base);
  TimeNs left = whole.Change();
  for (std::size_t i = 0; i < std::min(categories.size(), kMaxChanges); ++i) {
    if (categories[i].kind == kRemainder) continue;
    add(std::string(Translated(categories[i].name)), categories[i].Change());
    left -= categories[i].Change();
  }
  if (left != 0) add(Say("everything else"), left);
  add(Say("comparison"), whole.comparison);
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
                  .title = Say("The runs of each metric, in percent of the base's median"),
                  .unit = "%",
                  .label = Say("metric"),
                  .limit = Say("the limit is"),
                  .band = Say("noise of the runs")};
  PageSeries base{.name = Say("base"), .tint = Tint::kBase}, comparison{.name = Say("comparison")};
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
