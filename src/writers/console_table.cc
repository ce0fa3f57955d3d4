// SPDX-License-Identifier: Apache-2.0
// Tables for the screen, laid out like those of the tool we follow: scripts parse them.
#include <algorithm>
#include <numeric>
#include <vector>

#include "mpa/base/printable.h"
#include "mpa/writers/writers.h"

namespace mpa {
namespace {

// Characters, not bytes.
std::size_t WidthOf(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// An odd blank goes to the right of texts of odd length, else to the left.
std::string Centered(const std::string& text, std::size_t width) {
  const std::size_t surplus = width - WidthOf(text);
  const std::size_t left = surplus / 2 + (surplus % 2 == 1 && WidthOf(text) % 2 == 0 ? 1 : 0);
  return std::string(left, ' ') + text + std::string(surplus - left, ' ');
}

std::string Line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line = "|";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += ' ' + Centered(Printable(cells[i]), widths[i]) + " |";
  }
  return line + '\n';
}

}  // namespace

std::string FormatTable(const ScreenTable& table) {
  std::vector<std::size_t> widths;
  for (const std::string& header : table.headers) widths.push_back(WidthOf(Printable(header)));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], WidthOf(Printable(row[i])));
    }
  }
  std::string rule = "+";
  for (const std::size_t width : widths) rule += std::string(width + 2, '-') + '+';
  rule += '\n';

  const std::size_t inner = rule.size() - 3;  // without the corners and the newline
  const std::string title = ' ' + Printable(table.title) + ' ';
  std::string text = '+' + std::string(inner, '-') + "+\n";
  text += '|' + Centered(title, std::max(inner, WidthOf(title))) + "|\n";
  text += rule + Line(table.headers, widths) + rule;
  for (const auto& row : table.rows) text += Line(row, widths);
  return text + rule;
}

}  // namespace mpa
