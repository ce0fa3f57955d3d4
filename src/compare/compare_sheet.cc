// SPDX-License-Identifier: Apache-2.0
// What the sheets of compare have in common.
#include "compare_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "mpa/base/stable_sort.h"

namespace mpa {

Sheet CompareSheet(std::string name, const std::vector<std::vector<Column>>& columns,
                   const CompareInput& input) {
  Sheet sheet;
  sheet.name = std::move(name);
  for (const std::vector<Column>& list : columns) {
    sheet.columns.insert(sheet.columns.end(), list.begin(), list.end());
  }
  for (const Side side : {Side::kBase, Side::kComparison}) {
    Banner banner;
    banner.side = side;
    banner.text = (side == Side::kBase ? "Base Profiling: " : "Comparison Profiling: ");
    banner.text += input.Path(side);
    bool found = false;
    for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
      if (sheet.columns[i].side != side) continue;
      if (!found) banner.first_column = i;
      banner.last_column = i;
      found = true;
    }
    if (found) sheet.banners.push_back(std::move(banner));
  }
  return sheet;
}

std::vector<Column> ForSide(Side side, std::vector<Column> columns) {
  for (Column& column : columns) column.side = side;
  return columns;
}

std::vector<Column> ForBothSides(const std::vector<Column>& columns) {
  std::vector<Column> both = ForSide(Side::kBase, columns);
  for (const Column& column : ForSide(Side::kComparison, columns)) both.push_back(column);
  return both;
}

Column PlainColumn(std::string_view name, std::string_view meaning, double width) {
  return NamedColumn(name, Format::kInteger, width, meaning);
}

Column BoldColumn(std::string_view name, std::string_view meaning, double width) {
  return NamedColumn(name, Format::kGeneral, width, meaning);
}

Column Decimals(std::string_view name, std::string_view meaning, double width) {
  return NamedColumn(name, Format::kDecimals2, width, meaning);
}

Column TwoDecimals(std::string_view name, std::string_view meaning, double width) {
  Column column = Decimals(name, meaning, width);
  column.decimals = 2;
  return column;
}

Column Difference(std::string_view name, std::string_view meaning, double width) {
  Column column = TwoDecimals(name, meaning, width);
  column.change = ChangeRole::kDifference;
  return column;
}

Column AsTotal(Column column) {
  column.change = ChangeRole::kTotal;
  return column;
}

Column Growth(std::string_view name, std::string_view meaning, double width, Format format) {
  Column column = NamedColumn(name, format, width, meaning);
  column.decimals = 4;
  column.marks_growth = true;
  return column;
}

std::optional<double> LeastChange(const CompareInput& input, RowsOf rows, double unit) {
  const RankTrace& trace = input.Trace(Side::kBase);
  const Steps& steps = trace.steps;
  TimeNs time = 0;
  for (std::size_t i = 0; i < steps.Size(); ++i) time += steps.end[i] - steps.start[i];
  if (rows == RowsOf::kOneStep && !steps.Empty()) time /= static_cast<TimeNs>(steps.Size());
  if (steps.Empty() && !trace.kernels.Empty()) {  // all device work is one step
    TimeNs begin = trace.kernels.start[0], end = begin;
    for (std::size_t i = 0; i < trace.kernels.Size(); ++i) {
      begin = std::min(begin, trace.kernels.start[i]);
      end = std::max(end, trace.kernels.start[i] + trace.kernels.dur[i]);
    }
    time = end - begin;
  }
  if (time <= 0) return std::nullopt;
  return kPartThatMatters * static_cast<double>(time) / unit;
}

double LeastChangeOf(const Sheet& sheet, std::size_t base_column) {
  double sum = 0;
  for (const Row& row : sheet.rows) {
    if (const auto* number = std::get_if<double>(&row.cells[base_column])) sum += *number;
  }
  return kPartThatMatters * sum;
}

namespace {

void SortByColumn(Sheet& sheet, std::size_t column) {
  const int decimals = sheet.columns[column].decimals.value();
  const auto shown = [&](const Row& row) {
    const double* number = std::get_if<double>(&row.cells[column]);
    return number != nullptr ? Rounded(*number, decimals) : std::numeric_limits<double>::lowest();
  };
  std::ranges::stable_sort(sheet.rows, std::ranges::greater(), shown);
}

// Below every change where the row does not tell.
double SizeOfChange(const Sheet& sheet, const Row& row) {
  constexpr int kShownDecimals = 2;  // as Difference() says
  // The difference of two doubles is off by far more than half an ulp: first to what was recorded.
  constexpr int kRecordedDecimals = 6;
  const std::optional<double> change = ChangeOf(sheet, row);
  if (!change) return -1;
  return Rounded(Rounded(std::abs(*change), kRecordedDecimals), kShownDecimals);
}

// The rows of a sheet from one that heads others to the next.
struct RowBlock {
  double change = 0;  // of its head
  std::vector<std::pair<double, Row>> rows;
};

void SortByChange(Sheet& sheet, bool (*heads)(const Row& row)) {
  std::vector<RowBlock> blocks;
  for (Row& row : sheet.rows) {
    const double change = SizeOfChange(sheet, row);
    if (blocks.empty() || heads == nullptr || heads(row)) blocks.push_back({change, {}});
    blocks.back().rows.emplace_back(change, std::move(row));
  }
  StableSort(blocks, std::ranges::greater(), &RowBlock::change);
  std::vector<Row> sorted;
  sorted.reserve(sheet.rows.size());
  for (RowBlock& block : blocks) {
    std::ranges::stable_sort(block.rows.begin() + 1, block.rows.end(), std::ranges::greater(),
                             &std::pair<double, Row>::first);
    for (auto& [change, row] : block.rows) sorted.push_back(std::move(row));
  }
  sheet.rows = std::move(sorted);
}

}  // namespace

void OrderRows(const CompareInput& input, Sheet& sheet,
               std::optional<std::size_t> column_of_reference, bool (*heads)(const Row& row)) {
  if (!input.options().compat) {
    SortByChange(sheet, heads);
  } else if (column_of_reference) {
    SortByColumn(sheet, *column_of_reference);
  }
  std::int64_t number = 0;
  for (Row& row : sheet.rows) row.cells[0] = ++number;
}

std::string RatioMeaning(std::string_view what) {
  return fmt::format(
      "{} of the comparison divided by that of the base; unknown where the base has none.", what);
}

void NoteNotCollected(std::string note, Report& report) {
  report.not_collected.push_back(note);
  report.notes.push_back(std::move(note));
}

}  // namespace mpa
