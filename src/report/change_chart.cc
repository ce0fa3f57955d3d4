// SPDX-License-Identifier: Apache-2.0
// Drawings of what changed.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "mpa/report/change_tree.h"
#include "mpa/report/gate_report.h"

namespace mpa {

PageChart ChangeChart(const ChangeNode& whole) {
  constexpr std::size_t kMostChanges = 12;
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
  std::vector<ChangeNode> leaves = LeavesOf(whole);
  std::erase_if(leaves, [](const ChangeNode& leaf) { return leaf.Change() == 0; });
  add("base", whole.base);
  TimeNs left = whole.Change();
  for (std::size_t i = 0; i < std::min(leaves.size(), kMostChanges); ++i) {
    if (leaves[i].kind == kRemainder) continue;
    add(leaves[i].name, leaves[i].Change());
    left -= leaves[i].Change();
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
