// SPDX-License-Identifier: Apache-2.0
// Lists on the screen.
#include "mpa/report/screen_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
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
  if (column.text) return column.text(NumberOf(cell).value_or(0));
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
  return fmt::format("{:.{}f}", std::get<double>(cell), column.decimals);
}

// In the columns that are left of the screen.
std::string Placed(const ScreenColumn& column, std::string text, std::size_t left) {
  if (column.shown == Shown::kName) {
    return column.width > 0 ? NameCell(text, column.width) : ShortenName(text, left);
  }
  if (column.shown == Shown::kNumber) return PaddedBefore(std::move(text), column.width);
  return PaddedBehind(CutEnd(text, column.width > 0 ? column.width : left), column.width);
}

ScreenColumn Converted(std::string_view header, std::size_t width,
                       std::function<std::string(double)> text) {
  return {.header = std::string(header), .width = width, .text = std::move(text)};
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

ScreenColumn ScreenChange(std::string_view header, std::size_t width, int decimals) {
  return Converted(header, width,
                   [decimals](double change) { return fmt::format("{:+.{}f}", change, decimals); });
}

ScreenColumn ScreenPercent(std::string_view header, std::size_t width) {
  return Converted(header, width, [](double percent) { return fmt::format("{:.1f} %", percent); });
}

ScreenColumn ScreenRatio(std::string_view header, std::size_t width) {
  return Converted(header, width, PercentText);
}

ScreenColumn ScreenMs(std::string_view header, std::size_t width) {
  return Converted(header, width, [](double ns) { return fmt::format("{:.3f}", ns / 1e6); });
}

ScreenColumn ScreenUs(std::string_view header, std::size_t width) {
  return Converted(header, width, [](double ns) { return fmt::format("{:.1f}", ns / 1e3); });
}

ScreenColumn ScreenAmount(std::string_view header, std::size_t width, const AmountScale& scale) {
  return Converted(header, width, [scale](double value) {
    return scale.Text(scale.Rounded(std::llround(value)));
  });
}

std::string ScreenList::Heading() const {
  std::vector<Cell> headers;
  for (const ScreenColumn& column : columns_) headers.emplace_back(column.header);
  return LineOf(headers);
}

std::string ScreenList::LineOf(const std::vector<Cell>& cells) const {
  std::string line(indent_, ' ');
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (i > 0) line += ' ';
    // A text that begins where a number ends would read as part of it.
    if (i > 0 && columns_[i].shown != Shown::kNumber && columns_[i - 1].shown == Shown::kNumber)
      line += ' ';
    const std::size_t left = ScreenColumns() - std::min(ScreenColumns(), ColumnsOf(line));
    line += Placed(columns_[i], CellText(columns_[i], cells[i]), left);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace mpa
