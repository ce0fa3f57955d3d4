// SPDX-License-Identifier: Apache-2.0
// Tables for the screen. Those with borders are laid out like the tables of the tool we follow:
// scripts parse them.
#include <algorithm>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/printable.h"
#include "mpa/writers/writers.h"

namespace mpa {
namespace {

// An odd blank goes to the right of texts of odd length, else to the left.
std::string Centered(const std::string& text, std::size_t width) {
  const std::size_t length = ColumnsOf(text);
  const std::size_t surplus = width - length;
  const std::size_t left = surplus / 2 + (surplus % 2 == 1 && length % 2 == 0 ? 1 : 0);
  return std::string(left, ' ') + text + std::string(surplus - left, ' ');
}

std::string BorderedLine(const std::vector<std::string>& cells,
                         const std::vector<std::size_t>& widths) {
  std::string line = "|";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += ' ' + Centered(Printable(cells[i]), widths[i]) + " |";
  }
  return line + '\n';
}

std::string PlainLine(const std::vector<std::string>& cells,
                      const std::vector<std::size_t>& widths) {
  if (cells.size() == 1) return Printable(cells.front()) + '\n';
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string text = Printable(cells[i]);
    const std::string blanks(widths[i] - ColumnsOf(text), ' ');
    line += i == 0 ? text + blanks : "  " + blanks + text;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::vector<std::size_t> WidthsOf(const ScreenTable& table) {
  std::vector<std::size_t> widths;
  for (const std::string& header : table.headers) {
    widths.push_back(ColumnsOf(Printable(header)));
  }
  for (const auto& row : table.rows) {
    if (table.plain && row.size() == 1) continue;
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], ColumnsOf(Printable(row[i])));
    }
  }
  return widths;
}

std::string PlainTable(const ScreenTable& table, const std::vector<std::size_t>& widths) {
  std::string text;
  for (const std::string& line : table.heading) text += Printable(line) + '\n';
  if (!table.heading.empty()) text += '\n';
  text += PlainLine(table.headers, widths);
  for (const auto& row : table.rows) text += PlainLine(row, widths);
  return text + '\n';
}

std::string BorderedTable(const ScreenTable& table, const std::vector<std::size_t>& widths) {
  std::string rule = "+";
  for (const std::size_t width : widths) rule += std::string(width + 2, '-') + '+';
  rule += '\n';

  const std::size_t inner = rule.size() - 3;  // without the corners and the newline
  const std::string title = ' ' + Printable(table.title) + ' ';
  std::string text = '+' + std::string(inner, '-') + "+\n";
  text += '|' + Centered(title, std::max(inner, ColumnsOf(title))) + "|\n";
  text += rule + BorderedLine(table.headers, widths) + rule;
  for (const auto& row : table.rows) text += BorderedLine(row, widths);
  return text + rule;
}

}  // namespace

std::string FormatTable(const ScreenTable& table) {
  const std::vector<std::size_t> widths = WidthsOf(table);
  return table.plain ? PlainTable(table, widths) : BorderedTable(table, widths);
}

}  // namespace mpa
