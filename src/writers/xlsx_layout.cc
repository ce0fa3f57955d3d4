// SPDX-License-Identifier: Apache-2.0
// Widths, filters, frozen headers and bars of worksheets.
#include "xlsx_layout.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "mpa/base/columns.h"
#include "sheet_values.h"
#include "xlsx_cells.h"

namespace mpa::writers {
namespace {

// The longest line of a text, in characters of a cell.
std::size_t WidestLine(std::string_view text) {
  std::size_t widest = 0;
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    widest = std::max(widest, ColumnsOf(text.substr(0, end)));
    if (end == text.size()) return widest;
    text.remove_prefix(end + 1);
  }
}

// In lines, of a text that breaks at the width of its column. Words are kept whole, so that a line
// may be a tenth shorter.
std::size_t LinesOf(std::string_view text, double width) {
  const std::size_t room = std::max<std::size_t>(1, static_cast<std::size_t>(0.9 * width));
  std::size_t lines = 0;
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines += std::max<std::size_t>(1, (ColumnsOf(text.substr(0, end)) + room - 1) / room);
    if (end == text.size()) return lines;
    text.remove_prefix(end + 1);
  }
}

bool HasBreaks(const Row& row) {
  return std::ranges::any_of(row.cells, [](const Cell& cell) {
    const auto* text = std::get_if<std::string>(&cell);
    return text != nullptr && text->find('\n') != std::string::npos;
  });
}

// Headers break between words into two lines and have a button of the filter.
double HeaderWidth(const std::string& header) {
  constexpr std::size_t kButton = 4;
  std::size_t word = 0, longest = 0;
  for (const char c : header) {
    word = c == ' ' ? 0 : word + 1;
    longest = std::max(longest, word);
  }
  const std::size_t half = (ColumnsOf(header) + 1) / 2 + 2;
  return static_cast<double>(std::max(longest, half) + kButton);
}

}  // namespace

std::vector<double> FittedWidths(const Sheet& sheet) {
  constexpr std::size_t kRowsSeen = 1000;
  constexpr double kMin = 8, kMax = 60, kIndent = 2;
  const auto is_fixed = [&](const Column& of) {
    return sheet.look == Look::kList && IsWrapped(of);
  };
  std::vector<double> needed(sheet.columns.size(), 0);
  std::vector<bool> has_lines(sheet.columns.size());  // lists and call stacks, which are looked up
  for (std::size_t i = 0; i < std::min(sheet.rows.size(), kRowsSeen); ++i) {
    const Row& row = sheet.rows[i];
    for (std::size_t column = 0; column < sheet.columns.size(); ++column) {
      if (is_fixed(sheet.columns[column])) continue;
      const double indent = column == 0 ? kIndent * row.indent : 0;
      const std::string text = ShownText(sheet, row, column);
      has_lines[column] = has_lines[column] || text.find('\n') != std::string::npos;
      needed[column] = std::max(needed[column], static_cast<double>(WidestLine(text)) + indent);
    }
  }
  std::vector<double> widths;
  for (std::size_t column = 0; column < sheet.columns.size(); ++column) {
    const Column& of = sheet.columns[column];
    const double most = std::max(of.width, has_lines[column] ? kMax / 2 : kMax);
    widths.push_back(is_fixed(of) ? of.width
                                  : std::clamp(std::max(std::min(needed[column] + 2, most),
                                                        HeaderWidth(of.name)),
                                               kMin, kMax));
  }
  return widths;
}

int HeightOf(const Sheet& sheet, const Row& row, bool as_reference,
             std::span<const double> widths) {
  constexpr int kMaxHeight = 405;  // Excel takes 409
  if (sheet.look != Look::kList) return as_reference || !HasBreaks(row) ? 0 : kFirstLineHeight;
  std::size_t lines = 1;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const auto* text =
        IsWrapped(sheet.columns[i]) ? std::get_if<std::string>(&row.cells[i]) : nullptr;
    const double width = i < widths.size() ? widths[i] : sheet.columns[i].width;
    if (text != nullptr) lines = std::max(lines, LinesOf(*text, width));
  }
  if (lines == 1) return as_reference || !HasBreaks(row) ? 0 : kFirstLineHeight;
  return static_cast<int>(std::min<std::size_t>(lines * kLineHeight, kMaxHeight));
}

int HeaderHeight(const Sheet& sheet, const std::vector<double>& widths) {
  int lines = 1;
  for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
    const auto needed = static_cast<double>(ColumnsOf(sheet.columns[i].name) + 3);
    if (needed > widths[i]) lines = 2;
  }
  return lines * kLineHeight;
}

void AddBars(lxw_worksheet* worksheet, const Sheet& sheet, const TableRows& rows) {
  if (rows.last == rows.header) return;
  for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
    if (sheet.columns[i].change != ChangeRole::kDifference) continue;
    lxw_conditional_format bars{};
    bars.type = LXW_CONDITIONAL_DATA_BAR;
    bars.data_bar_2010 = LXW_TRUE;
    bars.bar_solid = LXW_TRUE;
    bars.bar_no_border = LXW_TRUE;
    bars.bar_color = kGrownColor;
    bars.bar_negative_color = kShrunkColor;
    bars.bar_axis_position = LXW_CONDITIONAL_BAR_AXIS_MIDPOINT;
    Check(worksheet_conditional_format_range(worksheet, rows.header + 1, Col(i), rows.last, Col(i),
                                             &bars),
          "adding bars");
  }
}

void MakeReadable(lxw_worksheet* worksheet, const Sheet& sheet, const std::vector<double>& widths,
                  const TableRows& rows) {
  if (sheet.columns.empty()) return;
  const lxw_col_t last_column = Col(sheet.columns.size() - 1);
  worksheet_freeze_panes(worksheet, rows.header + 1, 0);
  Check(worksheet_autofilter(worksheet, rows.header, 0, rows.last, last_column), "adding filters");
  AddBars(worksheet, sheet, rows);
  SetUpPages(worksheet, rows, {.widths = widths, .keys = KeyColumns(sheet, widths)});
}

}  // namespace mpa::writers
