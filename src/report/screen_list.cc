// SPDX-License-Identifier: Apache-2.0
// Lists on the screen.
#include "mpa/report/screen_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"

namespace mpa {
namespace {

using Shown = ScreenColumn::Shown;

std::string CellText(const ScreenColumn& column, const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return Printable(*text);
  if (const auto* reason = std::get_if<NoNumber>(&cell)) return std::string(mpa::TextOf(*reason));
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

ScreenColumn Converted(std::string_view header, std::size_t width, std::string_view unit,
                       std::function<std::string(double)> text) {
  return {.header = std::string(header),
          .width = width,
          .text = std::move(text),
          .unit = std::string(unit)};
}

bool IsOfRanks(const ScreenColumn& column) {
  return column.header == "rank" || column.header == "(rank)";
}

// "(3)" and "3" of a column of ranks.
Cell RankIn(std::string text) {
  if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
  const std::vector<StatedNumber> numbers = NumbersIn(text);
  if (text.empty() || text == "-" || text == "?" || text == "unknown") return {};
  if (numbers.size() != 1) return text;
  return static_cast<std::int64_t>(numbers.front().value);
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
  return Converted(header, width, "",
                   [decimals](double change) { return fmt::format("{:+.{}f}", change, decimals); });
}

ScreenColumn ScreenPercent(std::string_view header, std::size_t width) {
  return Converted(header, width, "%",
                   [](double percent) { return fmt::format("{:.1f} %", percent); });
}

ScreenColumn ScreenRatio(std::string_view header, std::size_t width) {
  return Converted(header, width, "%", PercentText);
}

ScreenColumn ScreenMs(std::string_view header, std::size_t width) {
  return Converted(header, width, "ms", [](double ns) { return fmt::format("{:.3f}", ns / 1e6); });
}

ScreenColumn ScreenUs(std::string_view header, std::size_t width) {
  return Converted(header, width, "us", [](double ns) { return fmt::format("{:.1f}", ns / 1e3); });
}

ScreenColumn ScreenAmount(std::string_view header, std::size_t width, const AmountScale& scale) {
  return Converted(header, width, scale.unit(), [scale](double value) {
    return scale.Text(scale.Rounded(std::llround(value)));
  });
}

ScreenLine ScreenList::Heading() const {
  std::vector<Cell> headers;
  for (const ScreenColumn& column : columns_)
    headers.emplace_back(std::string(Translated(column.header)));
  return {TextOf(headers), {}};
}

ScreenLine ScreenList::LineOf(const std::vector<Cell>& cells) const {
  return {TextOf(cells), NumbersOf(cells)};
}

// A rank belongs to the number before it; the one of the first columns to all that have none.
std::vector<StatedNumber> ScreenList::NumbersOf(const std::vector<Cell>& cells) const {
  std::vector<StatedNumber> numbers;
  Cell of_line;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const ScreenColumn& column = columns_[i];
    const std::string text = CellText(column, cells[i]);
    const bool in_brackets = text.starts_with('(') && text.ends_with(')');
    if (IsOfRanks(column) || (in_brackets && column.shown == Shown::kText && !numbers.empty())) {
      (numbers.empty() ? of_line : numbers.back().rank) = RankIn(text);
      continue;
    }
    if (column.shown != Shown::kNumber) {
      if (of_line == Cell()) of_line = OnlyRankIn(text);
      continue;
    }
    const bool is_count = std::holds_alternative<std::int64_t>(cells[i]);
    for (StatedNumber& number : NumbersIn(text)) {
      if (number.name.empty()) number.name = column.header;
      if (number.unit.empty()) number.unit = column.unit;
      if (number.unit.empty()) number.unit = UnitIn(column.header);
      if (number.unit.empty() && !is_count) number.unit = UnitIn(columns_.front().header);
      numbers.push_back(std::move(number));
    }
  }
  for (StatedNumber& number : numbers) {
    if (number.rank == Cell()) number.rank = of_line;
  }
  return numbers;
}

std::string ScreenList::TextOf(const std::vector<Cell>& cells) const {
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
