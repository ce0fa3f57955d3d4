// SPDX-License-Identifier: Apache-2.0
#include "mpa/gate/gate_sheets.h"

#include <utility>

namespace mpa::gate {
namespace {

Cell OrEmpty(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

std::vector<ColumnOf<GateMetric>> MetricColumns() {
  using Item = GateMetric;
  return {
      {NamedColumn("metric", Format::kText, 30, "The metric, such as step_time."),
       [](const Item& item) -> Cell { return item.name; }},
      {NamedColumn("unit", Format::kText, 8, "ns, bytes or count."),
       [](const Item& item) -> Cell { return std::string(ProgramUnit(item.quantity)); }},
      {NamedColumn("verdict", Format::kText, 14, "ok, improved, regression, inconclusive."),
       [](const Item& item) -> Cell { return std::string(VerdictName(item.verdict)); }},
      {NamedColumn("base", Format::kInteger, 16, "Median of the base."),
       [](const Item& item) -> Cell { return item.base; }},
      {NamedColumn("comparison", Format::kInteger, 16, "Median of the comparison."),
       [](const Item& item) -> Cell { return item.comparison; }},
      {NamedColumn("change", Format::kInteger, 16, "Comparison less base."),
       [](const Item& item) -> Cell { return item.Change(); }},
      {NamedColumn("change_percent", Format::kDecimals2, 14, "The change in percent of the base."),
       [](const Item& item) -> Cell { return OrEmpty(item.ChangePercent()); }},
      {NamedColumn("limit", Format::kText, 24, "The limit; empty for what is watched only."),
       [](const Item& item) -> Cell { return item.limit; }},
      {NamedColumn("noise", Format::kDecimals2, 14, "Standard deviation, in the unit."),
       [](const Item& item) -> Cell { return item.noise; }},
      {NamedColumn("probability", Format::kDecimals4, 12,
                   "Probability of values as high as these without a change."),
       [](const Item& item) -> Cell { return OrEmpty(item.probability); }},
      {NamedColumn("reason", Format::kText, 60, "Why the verdict is not what the change suggests."),
       [](const Item& item) -> Cell { return item.reason; }}};
}

// A part with what it is a part of.
struct PartItem {
  const char* of;
  const ChangeNode& part;
};

std::vector<ColumnOf<PartItem>> PartColumns() {
  using Item = PartItem;
  return {
      {NamedColumn("part_of", Format::kText, 16,
                   "contributions (they add up to the change), host_calls or operators."),
       [](const Item& item) -> Cell { return item.of; }},
      {NamedColumn("kind", Format::kText, 14,
                   "component, kernel, collective, operator, host, "
                   "remainder."),
       [](const Item& item) -> Cell { return item.part.kind; }},
      {NamedColumn("name", Format::kText, 60, "What it is."),
       [](const Item& item) -> Cell { return item.part.name; }},
      {NamedColumn("leaf", Format::kText, 20,
                   "Its leaf in the accounting of advisor, such as free.copy; empty: none."),
       [](const Item& item) -> Cell { return item.part.leaf; }},
      {NamedColumn("base_ns", Format::kInteger, 16, "Time in the median step of the base."),
       [](const Item& item) -> Cell { return item.part.base; }},
      {NamedColumn("comparison_ns", Format::kInteger, 16,
                   "Time in the median step of the comparison."),
       [](const Item& item) -> Cell { return item.part.comparison; }},
      {NamedColumn("change_ns", Format::kInteger, 16, "Comparison less base."),
       [](const Item& item) -> Cell { return item.part.Change(); }},
      {NamedColumn("base_calls", Format::kInteger, 12, "Calls in the median step; 0: not counted."),
       [](const Item& item) -> Cell { return item.part.base_count; }},
      {NamedColumn("comparison_calls", Format::kInteger, 16,
                   "Calls in the median step; 0: not counted."),
       [](const Item& item) -> Cell { return item.part.comparison_count; }}};
}

std::vector<ColumnOf<GateMismatch>> MismatchColumns() {
  using Item = GateMismatch;
  return {{NamedColumn("field", Format::kText, 30, "What differs in how the sides were collected."),
           [](const Item& item) -> Cell { return item.field; }},
          {NamedColumn("base", Format::kText, 30, "Its value in the base."),
           [](const Item& item) -> Cell { return item.base; }},
          {NamedColumn("comparison", Format::kText, 30, "Its value in the comparison."),
           [](const Item& item) -> Cell { return item.comparison; }},
          {NamedColumn("allowed", Format::kInteger, 10, "1 if --allow_mismatch names it."),
           [](const Item& item) -> Cell { return std::int64_t{item.allowed}; }}};
}

}  // namespace

Report ReportOf(GateReport gate) {
  Report report;
  const auto metric_columns = MetricColumns();
  Sheet& metrics = report.sheets.emplace_back(SheetOf("Metrics", metric_columns));
  for (const GateMetric& metric : gate.metrics) AddRow(metric_columns, metric, 0, metrics);
  const auto part_columns = PartColumns();
  Sheet& parts = report.sheets.emplace_back(SheetOf("Explanation", part_columns));
  const std::vector<ChangeNode> contributions = LeavesOf(gate.change);
  for (const auto& [of, list] : {std::pair{"contributions", &contributions},
                                 std::pair{"host_calls", &std::as_const(gate).host_calls},
                                 std::pair{"operators", &std::as_const(gate).operators}}) {
    for (const ChangeNode& part : *list) AddRow(part_columns, {of, part}, 0, parts);
  }
  const auto mismatch_columns = MismatchColumns();
  Sheet& mismatches = report.sheets.emplace_back(SheetOf("Mismatches", mismatch_columns));
  for (const GateMismatch& mismatch : gate.mismatches) {
    AddRow(mismatch_columns, mismatch, 0, mismatches);
  }
  report.notes = gate.notes;
  report.gate = std::move(gate);
  return report;
}

}  // namespace mpa::gate
