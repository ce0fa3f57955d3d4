// SPDX-License-Identifier: Apache-2.0
// The first sheet of a gate's workbook: the verdict, the metrics, and what changed most.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gate_sheets.h"
#include "mpa/report/summary_tables.h"

namespace mpa::gate {
namespace {

SummaryTable MetricsTable(const GateReport& gate) {
  SummaryTable metrics;
  Sheet& table = metrics.table;
  table.name = "The metrics";
  for (const auto& [name, width] : {std::pair{"Metric", 44.0},
                                    {"Verdict", 18.0},
                                    {"Base", 18.0},
                                    {"Comparison", 14.0},
                                    {"Change", 10.0},
                                    {"Limit", 14.0}}) {
    table.columns.push_back({.name = name, .format = Format::kText, .width = width});
  }
  for (std::size_t i = 0; i < gate.metrics.size(); ++i) {
    const GateMetric& metric = gate.metrics[i];
    Row row{{metric.name, std::string(VerdictName(metric.verdict))}};
    if (metric.verdict != GateVerdict::kInconclusive) {
      row.cells.insert(row.cells.end(), {AmountText(metric.quantity, metric.base),
                                         AmountText(metric.quantity, metric.comparison),
                                         GrowthOf(metric.base, metric.comparison)});
    } else {
      row.cells.insert(row.cells.end(), 3, Cell());
    }
    row.cells.emplace_back(metric.limit);
    table.rows.push_back(std::move(row));
    metrics.links.push_back(RowPlace{std::string(kMetricsSheet), i});
  }
  return metrics;
}

}  // namespace

WorkbookSummary SummariseGate(const GateReport& gate) {
  WorkbookSummary summary;
  summary.title = "The verdict of the gate";
  summary.lines = {gate.headline};
  if (gate.partial) summary.lines.emplace_back("judged on partial data: parts were left out");
  if (!gate.hint.empty()) summary.lines.push_back(gate.hint);
  if (!gate.metrics.empty()) summary.tables.push_back(MetricsTable(gate));
  if (gate.change.children.empty()) return summary;
  // The first rows of the explanation.
  const std::vector<ChangeNode> leaves = LeavesOf(gate.change);
  SummaryTable largest = LargestChangesTable(
      gate.change, "Of the whole", [&](const ChangeNode& change) -> std::optional<RowPlace> {
        const auto found = std::ranges::find_if(leaves, [&](const ChangeNode& leaf) {
          return leaf.name == change.name && leaf.kind == change.kind;
        });
        if (found == leaves.end()) return std::nullopt;
        return RowPlace{std::string(kExplanationSheet),
                        static_cast<std::size_t>(found - leaves.begin())};
      });
  if (!largest.table.rows.empty()) summary.tables.push_back(std::move(largest));
  return summary;
}

}  // namespace mpa::gate
