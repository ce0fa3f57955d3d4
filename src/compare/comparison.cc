// SPDX-License-Identifier: Apache-2.0
// The analyses of `compare` and what they share. Plain calls: nothing for the linker to drop, and
// the order can be seen.
#include "mpa/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare_sheet.h"
#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "mpa/measure/op_tree.h"
#include "mpa/report/amount.h"
#include "mpa/report/summary_tables.h"
#include "op_groups.h"
#include "op_names.h"

/// Every analysis, in the order of the sheets: X(F) for the function F() of its file.
#define MPA_COMPARISONS(X) \
  X(Overall)               \
  X(Communication)         \
  X(Operators)             \
  X(Memory)                \
  X(Api)                   \
  X(Kernel)                \
  X(Snapshots)             \
  X(ServerRequests)

namespace mpa {

namespace comparisons {

#define MPA_DECLARED(name) Comparison name();
MPA_COMPARISONS(MPA_DECLARED)
#undef MPA_DECLARED

}  // namespace comparisons

const std::vector<Comparison>& AllComparisons() {
#define MPA_MADE(name) comparisons::name(),
  static const std::vector<Comparison> all = {MPA_COMPARISONS(MPA_MADE)};
#undef MPA_MADE
  return all;
}

CompareInput::Capture::Capture(const RankTrace& trace_of_side, std::string path_of_side)
    : trace(trace_of_side), path(std::move(path_of_side)), ops([this] { return OpTree(trace); }) {}

CompareInput::CompareInput(const RankTrace& base, std::string base_path,
                           const RankTrace& comparison, std::string comparison_path,
                           CompareOptions options)
    : base_(base, std::move(base_path)),
      comparison_(comparison, std::move(comparison_path)),
      options_(std::move(options)),
      matched_([this] { return MatchOps(Ops(Side::kBase), Ops(Side::kComparison), options_); }) {
  if (!options_.compat) options_.op_names = WithoutChains(options_.op_names);
}

// The first sheet of the workbook: what the screen says, and where to look for more.

namespace {

const std::string* TextIn(const Row& row, std::size_t column) {
  return column < row.cells.size() ? std::get_if<std::string>(&row.cells[column]) : nullptr;
}

bool HasComponents(const ChangeNode& whole) {
  return std::ranges::any_of(whole.children,
                             [](const ChangeNode& part) { return part.kind == "component"; });
}

// "kernels: 8.878 -> 8.874 ms (-0.1 %)"
std::string TotalText(const ChangeNode& whole) {
  const AmountScale scale = AmountScale::ForPartsOf(std::max(whole.base, whole.comparison));
  return Say("{}: {} -> {} {} ({})", Translated(whole.name), scale.Text(scale.Rounded(whole.base)),
             scale.Text(scale.Rounded(whole.comparison)), scale.unit(),
             GrowthOf(whole.base, whole.comparison));
}

bool HasDifferences(const Sheet& sheet) {
  return std::ranges::any_of(
      sheet.columns, [](const Column& column) { return column.change != ChangeRole::kNone; });
}

// The column of the first difference that the row has; of totals without one the first of them.
std::size_t DifferenceIn(const Sheet& sheet, const Row& row) {
  std::size_t first = sheet.columns.size();
  for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
    const ChangeRole change = sheet.columns[i].change;
    if (change == ChangeRole::kDifference && i < row.cells.size() && NumberOf(row.cells[i]))
      return i;
    if (change != ChangeRole::kNone) first = std::min(first, i);
  }
  return first;
}

// Where nothing was said of the step: the rows of the first sheet that differ most, in its unit.
std::optional<SummaryTable> LargestRows(const std::vector<Sheet>& sheets) {
  const auto sheet = std::ranges::find_if(sheets, HasDifferences);
  if (sheet == sheets.end()) return std::nullopt;
  std::vector<std::pair<double, std::size_t>> changes;
  for (std::size_t i = 0; i < sheet->rows.size(); ++i) {
    if (const auto change = ChangeOf(*sheet, sheet->rows[i]); change.value_or(0) != 0)
      changes.emplace_back(*change, i);
  }
  StableSort(changes, std::ranges::greater(),
             [](const auto& change) { return std::abs(change.first); });
  changes.resize(std::min(changes.size(), kMaxSummaryRows));
  const auto shown = std::ranges::find_if(
      sheet->columns, [](const Column& column) { return column.change != ChangeRole::kNone; });
  const std::string unit = shown->name.substr(std::min(shown->name.find('('), shown->name.size()));
  SummaryTable largest;
  largest.table.name = Say("The largest differences in {}", sheet->name);
  largest.table.columns = {
      Column{.name = Say("What changed"), .format = Format::kText, .width = 44},
      Column{.name = Say("Diff {}", unit), .format = Format::kDecimals3, .width = 14}};
  largest.table.columns[1].change = ChangeRole::kDifference;
  largest.table.least_change = sheet->least_change;
  for (const auto& [change, place] : changes) {
    const Row& row = sheet->rows[place];
    std::string name;
    for (std::size_t i = 0; i < row.cells.size() && name.empty(); ++i) {
      if (const std::string* text = TextIn(row, i)) name = *text;
    }
    name.erase(0, name.find_first_not_of('\t'));
    largest.table.rows.push_back({{std::move(name), change}});
    largest.links.push_back(RowPlace{sheet->name, place, DifferenceIn(*sheet, row)});
  }
  if (changes.empty()) return std::nullopt;
  largest.chart = largest.table.name;
  largest.charted = {1};
  return largest;
}

}  // namespace

WorkbookSummary SummariseComparison(const Report& report) {
  WorkbookSummary summary;
  summary.title = Translated("What changed from the base to the comparison");
  summary.lines = report.story;
  const bool told = !report.change.children.empty();
  if (summary.lines.empty()) {
    for (const ScreenTable& screen : report.screens) {  // below the two captures
      for (std::size_t i = 2; i < screen.heading.size(); ++i)
        summary.lines.push_back(screen.heading[i]);
    }
    if (told) summary.lines.push_back(TotalText(report.change));
    if (summary.lines.empty())
      summary.lines.emplace_back(Translated("no verdict: the end-to-end time was not compared"));
  }
  if (!report.preface.empty()) summary.lines.push_back(report.preface);
  if (report.settings && !report.settings->differing.empty())
    summary.lines.push_back(SettingsLine(*report.settings));
  if (told) {
    const bool of_step = HasComponents(report.change);
    // The row of the sheet that has the same numbers.
    const auto place_of = [&](const ChangeNode& part) {
      return PlaceInChangeSheet(report.change, part);
    };
    summary.tables.push_back(
        LargestChangesTable(report.change, of_step ? "Of the step" : "Of all", place_of));
    if (of_step) summary.tables.push_back(PartsTable(report.change, place_of));
  } else if (report.story.empty()) {
    if (auto largest = LargestRows(report.sheets)) summary.tables.push_back(std::move(*largest));
  }
  std::erase_if(summary.tables, [](const SummaryTable& table) { return table.table.rows.empty(); });
  return summary;
}

}  // namespace mpa
