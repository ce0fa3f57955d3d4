// SPDX-License-Identifier: Apache-2.0
// Lists on the screen.
#include "mpa/report/screen_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "mpa/base/columns.h"
#include "mpa/base/printable.h"

namespace mpa {
namespace {

using Shown = ScreenColumn::Shown;

std::string CellText(const ScreenColumn& column, const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return Printable(*text);
  if (const auto* reason = std::get_if<NoNumber>(&cell)) return std::string(TextOf(*reason));
  if (std::holds_alternative<std::monostate>(cell)) return "-";
  std::string number;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    number = column.with_plus ? fmt::format("{:+}", *whole) : fmt::format("{}", *whole);
  } else {
    const double value = std::get<double>(cell);
    number = column.with_plus ? fmt::format("{:+.{}f}", value, column.decimals)
                              : fmt::format("{:.{}f}", value, column.decimals);
  }
  return number.append(column.unit);
}

std::string Placed(const ScreenColumn& column, std::string text) {
  if (column.shown == Shown::kName) return NameCell(text, column.width);
  if (column.shown == Shown::kText && column.width > 0) text = CutEnd(text, column.width);
  const std::string blanks(column.width - std::min(column.width, ColumnsOf(text)), ' ');
  return column.shown == Shown::kNumber ? blanks + text : text + blanks;
}

}  // namespace

ScreenColumn ScreenName(std::string_view header, std::size_t usual_width) {
  return {.header = std::string(header), .shown = Shown::kName, .width = usual_width};
}

ScreenColumn ScreenText(std::string_view header, std::size_t width) {
  return {.header = std::string(header), .shown = Shown::kText, .width = width};
}

ScreenColumn ScreenNumber(std::string_view header, std::size_t width, int decimals) {
  return {.header = std::string(header), .width = width, .decimals = decimals};
}

ScreenColumn ScreenPercent(std::string_view header, std::size_t width) {
  return {.header = std::string(header), .width = width, .decimals = 1, .unit = " %"};
}

std::string ScreenList::Heading() const {
  std::vector<std::string> texts;
  for (const ScreenColumn& column : columns_) texts.push_back(Placed(column, column.header));
  return Joined(texts);
}

std::string ScreenList::LineOf(const std::vector<Cell>& cells) const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    texts.push_back(Placed(columns_[i], CellText(columns_[i], cells[i])));
  }
  return Joined(texts);
}

std::string ScreenList::Joined(const std::vector<std::string>& texts) const {
  std::string line(indent_, ' ');
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) line += ' ';
    // A text that begins where a number ends would read as part of it.
    if (i > 0 && columns_[i].shown != Shown::kNumber && columns_[i - 1].shown == Shown::kNumber)
      line += ' ';
    line += texts[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace mpa
