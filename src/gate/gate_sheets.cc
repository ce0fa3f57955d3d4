// SPDX-License-Identifier: Apache-2.0
// What a gate says, as a report: sheets, and the first sheet of a workbook.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/gate/judge.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/report.h"
#include "mpa/report/summary_tables.h"

namespace mpa::gate {
namespace {

constexpr std::string_view kMetricsSheet = "Metrics", kExplanationSheet = "Explanation";

SheetColumns<GateMetric> MetricColumns() {
  using Item = GateMetric;
  return {TextColumn<&Item::name>("metric", 30, "The metric, such as step_time."),
          {NamedColumn("unit", Format::kText, 8, "ns, bytes or count."),
           [](const Item& item) -> Cell { return std::string(ProgramUnit(item.quantity)); }},
          {NamedColumn("verdict", Format::kText, 14,
                       "ok, improved, regression, undecided, inconclusive."),
           [](const Item& item) -> Cell { return std::string(VerdictName(item.verdict)); }},
          CountColumn<&Item::base>("base", 16, "Median of the base."),
          CountColumn<&Item::comparison>("comparison", 16, "Median of the comparison."),
          CountColumn<&Item::Change>("change", 16, "Comparison minus base."),
          NumberColumn<&Item::ChangePercent>("change_percent", Format::kDecimals2, 14,
                                             "The change in percent of the base."),
          TextColumn<&Item::limit>("limit", 24,
                                   "Limit of the metric; empty if the metric is only watched."),
          NumberColumn<&Item::noise>("noise", Format::kDecimals2, 14,
                                     "Standard deviation of the runs, in the unit of the row."),
          NumberColumn<&Item::probability>(
              "probability", Format::kDecimals4, 12,
              "Probability of values as high as these if nothing changed."),
          TextColumn<&Item::reason>("reason", 60,
                                    "Why the verdict differs from what the change suggests.")};
}

// A part with what it is a part of.
struct PartItem {
  std::string of;
  ChangeNode part;
};

SheetColumns<PartItem> PartColumns() {
  using Item = PartItem;
  using Part = ChangeNode;
  return {
      TextColumn<&Item::of>(
          "part_of", 16,
          "contributions or causes (in a job; both add up to the change), host_calls, or"
          " operators."),
      TextColumn<&Item::part, &Part::kind>(
          "kind", 14, "component, cause, kernel, collective, operator, host, remainder."),
      TextColumn<&Item::part, &Part::name>("name", 60, "Name of the part."),
      TextColumn<&Item::part, &Part::category>(
          "leaf", 20,
          "Leaf of advisor's accounting, such as free.copy, or key of the finding; empty: none."),
      CountColumn<&Item::part, &Part::base>("base_ns", 16, "Time in the median step of the base."),
      CountColumn<&Item::part, &Part::comparison>("comparison_ns", 16,
                                                  "Time in the median step of the comparison."),
      CountColumn<&Item::part, &Part::Change>("change_ns", 16, "Comparison minus base."),
      CountColumn<&Item::part, &Part::base_count>(
          "base_calls", 12, "Calls in the median step of the base; 0: not counted."),
      CountColumn<&Item::part, &Part::comparison_count>(
          "comparison_calls", 16, "Calls in the median step of the comparison; 0: not counted.")};
}

SheetColumns<GateMismatch> MismatchColumns() {
  using Item = GateMismatch;
  return {
      TextColumn<&Item::field>("field", 30,
                               "Setting that differs between the collections of the two sides."),
      TextColumn<&Item::base>("base", 30, "Value of the setting in the base."),
      TextColumn<&Item::comparison>("comparison", 30, "Value of the setting in the comparison."),
      CountColumn<&Item::allowed>("allowed", 10, "1 if --allow_mismatch names the setting.")};
}

template <typename Item>
std::size_t PlaceOf(std::string_view name, const SheetColumns<Item>& columns) {
  const auto found =
      std::ranges::find(columns, name, [](const auto& one) { return one.column.name; });
  return static_cast<std::size_t>(found - columns.begin());
}

SummaryTable MetricsTable(const GateReport& gate) {
  SummaryTable metrics;
  Sheet& table = metrics.table;
  table.name = Translated("The metrics");
  for (const auto& [name, width] : {std::pair{"Metric", 44.0},
                                    {"Verdict", 18.0},
                                    {"Base", 18.0},
                                    {"Comparison", 14.0},
                                    {"Change", 10.0},
                                    {"Limit", 14.0}}) {
    table.columns.push_back(
        {.name = std::string(Translated(name)), .format = Format::kText, .width = width});
  }
  const std::size_t comparison = PlaceOf("comparison", MetricColumns());
  for (std::size_t i = 0; i < gate.metrics.size(); ++i) {
    const GateMetric& metric = gate.metrics[i];
    Row row{{metric.name, std::string(Translated(VerdictName(metric.verdict)))}};
    if (metric.IsMeasured()) {
      row.cells.insert(row.cells.end(), {AmountText(metric.quantity, metric.base),
                                         AmountText(metric.quantity, metric.comparison),
                                         GrowthOf(metric.base, metric.comparison)});
    } else {
      row.cells.insert(row.cells.end(), 3, Cell());
    }
    row.cells.emplace_back(metric.limit);
    table.rows.push_back(std::move(row));
    metrics.links.push_back(RowPlace{std::string(kMetricsSheet), i, comparison});
  }
  return metrics;
}

// The first sheet of the workbook: the verdict, the metrics with links to their rows, and what
// changed most with links to the rows of the explanation.
WorkbookSummary SummariseGate(const GateReport& gate) {
  WorkbookSummary summary;
  summary.title = Translated("The verdict of the gate");
  summary.lines = {gate.headline};
  if (gate.partial)
    summary.lines.emplace_back(
        Translated("judged on partial data: parts of the input were left out"));
  if (std::string settings = SettingsLine(gate.settings); !settings.empty())
    summary.lines.push_back(std::move(settings));
  if (!gate.hint.empty()) summary.lines.push_back(gate.hint);
  if (!gate.metrics.empty()) summary.tables.push_back(MetricsTable(gate));
  if (gate.change.children.empty()) return summary;
  // The first rows of the explanation.
  const std::vector<ChangeNode> categories = CategoriesOf(gate.change);
  const std::size_t change_column = PlaceOf("change_ns", PartColumns());
  SummaryTable largest = LargestChangesTable(
      gate.change, "Of the whole", [&](const ChangeNode& change) -> std::optional<RowPlace> {
        const auto found = std::ranges::find_if(categories, [&](const ChangeNode& category) {
          return category.name == change.name && category.kind == change.kind;
        });
        if (found == categories.end()) return std::nullopt;
        return RowPlace{std::string(kExplanationSheet),
                        static_cast<std::size_t>(found - categories.begin()), change_column};
      });
  if (!largest.table.rows.empty()) summary.tables.push_back(std::move(largest));
  return summary;
}

}  // namespace

Report ReportOf(GateReport gate) {
  Report report;
  ItemSheet metrics(kMetricsSheet, MetricColumns());
  for (const GateMetric& metric : gate.metrics) metrics.Add(metric);
  ItemSheet parts(kExplanationSheet, PartColumns());
  const std::vector<ChangeNode> contributions = CategoriesOf(gate.change);
  const std::vector<ChangeNode> causes = CategoriesOf(gate.causes);
  for (const auto& [of, list] :
       {std::pair{"contributions", &contributions}, std::pair{"causes", &causes},
        std::pair{"host_calls", &std::as_const(gate).host_calls},
        std::pair{"operators", &std::as_const(gate).operators}}) {
    for (const ChangeNode& part : *list) parts.Add({of, part});
  }
  ItemSheet mismatches("Mismatches", MismatchColumns());
  for (const GateMismatch& mismatch : gate.mismatches) mismatches.Add(mismatch);
  report.sheets = {std::move(metrics.sheet), std::move(parts.sheet), std::move(mismatches.sheet)};
  report.notes = gate.notes;
  report.summary = SummariseGate(gate);
  for (const auto& [side, paths] : {std::pair{"base", &std::as_const(gate).base},
                                    {"comparison", &std::as_const(gate).comparison}}) {
    if (paths->empty()) continue;
    const std::string more =
        paths->size() > 1 ? Say(" and {} more", paths->size() - 1) : std::string();
    report.facts.push_back({side, paths->front() + more});
  }
  if (!gate.change.children.empty()) report.drawings.push_back(ChangeChart(gate.change));
  if (PageChart runs = RunsChart(gate); !runs.labels.empty())
    report.drawings.push_back(std::move(runs));
  report.gate = std::move(gate);
  return report;
}

}  // namespace mpa::gate
