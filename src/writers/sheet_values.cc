// SPDX-License-Identifier: Apache-2.0
// Names and values of columns.
#include "sheet_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "mpa/base/text.h"
#include "mpa/base/utf8.h"
#include "mpa/io/output_file.h"

namespace mpa::writers {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string NumberText(double value, Format format) {
  switch (format) {
    case Format::kInteger:
      return WithThousands(Fixed(value, 0));
    case Format::kDecimals2:
      return WithThousands(Fixed(value, 2));
    case Format::kDecimals3:
      return WithThousands(Fixed(value, 3));
    case Format::kDecimals4:
      return Fixed(value, 4);
    case Format::kPercent:
      return Fixed(value * 100, 2) + '%';
    case Format::kGrowth:
      return (value > 0 ? "+" : "") + Fixed(value * 100, 1) + '%';
    case Format::kGeneral:
    case Format::kText:
      break;
  }
  return fmt::format("{}", value);
}

// "OpType" and "Op Type" are op_type, "Ratio(%)" is ratio_percent.
std::string SnakeCase(std::string_view name) {
  std::string key;
  const auto separate = [&] {
    if (!key.empty() && key.back() != '_') key += '_';
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (IsUpper(c) && i > 0 && IsLower(name[i - 1])) separate();
    if (c == '%') {
      separate();
      key += "percent";
    } else if (IsLower(c) || IsUpper(c) || IsDigit(c)) {
      key += c;
    } else {
      separate();
    }
  }
  while (!key.empty() && key.back() == '_') key.pop_back();
  return key.empty() ? "column" : ToLower(key);
}

}  // namespace

bool IsEmpty(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return std::holds_alternative<std::monostate>(cell) || (text != nullptr && text->empty());
}

double InShownUnit(Unit unit, std::int64_t value) {
  const auto number = static_cast<double>(value);
  switch (unit) {
    case Unit::kNsShownAsMs:
      return number / 1e6;
    case Unit::kNsShownAsUs:
      return number / 1e3;
    case Unit::kNone:
      break;
  }
  return number;
}

std::string SidedName(const Column& column) {
  const std::string name = ToLower(column.name);
  if (column.side == Side::kNeither || name.starts_with("base") || name.starts_with("comparison")) {
    return column.name;
  }
  return (column.side == Side::kBase ? "Base " : "Comparison ") + column.name;
}

bool HasLevels(const Sheet& sheet) {
  return !sheet.rows.AreMade() &&
         std::ranges::any_of(sheet.rows, [](const Row& row) { return row.indent > 0; });
}

std::vector<std::string> ColumnKeys(const Sheet& sheet) {
  std::set<std::string> used;
  if (HasLevels(sheet)) used.emplace(kLevelKey);
  std::vector<std::string> keys;
  for (const Column& column : sheet.columns) {
    const std::string key = SnakeCase(SidedName(column));
    std::string unique = key;
    for (int i = 2; !used.insert(unique).second; ++i) unique = key + '_' + std::to_string(i);
    keys.push_back(std::move(unique));
  }
  return keys;
}

Cell ShownCell(const Sheet& sheet, const Row& row, std::size_t column) {
  if (column >= row.cells.size()) return {};
  const Cell& cell = row.cells[column];
  if (const auto* text = std::get_if<std::string>(&cell)) {
    std::string_view shown = *text;
    if (column == 0 && row.indent > 0) {
      shown.remove_prefix(std::min(shown.find_first_not_of('\t'), shown.size()));
    }
    return ValidUtf8(shown);
  }
  const auto* whole = std::get_if<std::int64_t>(&cell);
  if (whole != nullptr && sheet.columns[column].unit != Unit::kNone) {
    return InShownUnit(sheet.columns[column].unit, *whole);
  }
  const auto* real = std::get_if<double>(&cell);
  return real != nullptr && std::isnan(*real) ? Cell() : cell;
}

std::string ShownText(const Sheet& sheet, const Row& row, std::size_t column) {
  const Cell cell = ShownCell(sheet, row, column);
  const Format format = sheet.columns[column].format;
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    const std::string digits = std::to_string(*whole);
    return format == Format::kInteger ? WithThousands(digits)
                                      : NumberText(static_cast<double>(*whole), format);
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    return std::isinf(*real) ? "INF" : NumberText(*real, format);
  }
  if (const auto* reason = std::get_if<NoNumber>(&cell)) return std::string(TextOf(*reason));
  return {};
}

Cell ProgramCell(const Sheet& sheet, const Row& row, std::size_t column) {
  Cell cell = ShownCell(sheet, row, column);
  const auto* real = std::get_if<double>(&cell);
  const bool no_number =
      std::holds_alternative<NoNumber>(cell) || (real != nullptr && !std::isfinite(*real));
  return no_number ? Cell() : cell;
}

std::optional<std::string> CaptureOf(const Sheet& sheet, Side side) {
  for (const Banner& banner : sheet.banners) {
    if (banner.side != side) continue;
    const std::size_t title = banner.text.find(": ");  // "Base Profiling: ./old"
    return ValidUtf8(title == std::string::npos ? banner.text : banner.text.substr(title + 2));
  }
  return std::nullopt;
}

std::string WithThousands(std::string number) {
  const std::size_t from = number.find_first_of("0123456789");
  if (from == std::string::npos) return number;
  const std::size_t to = std::min(number.find_first_not_of("0123456789", from), number.size());
  for (std::size_t i = to; i > from + 3; i -= 3) number.insert(i - 3, ",");
  return number;
}

std::string TitleOfFile(const std::filesystem::path& path) {
  std::string title = std::filesystem::path(io::FinalName(path)).stem().string();
  std::ranges::replace(title, '_', ' ');
  const std::size_t word = title.find_last_not_of("0123456789 ");
  if (word != std::string::npos && title.size() - word > 8) title.resize(word + 1);
  return title;
}

Sheet NotesSheet(const std::vector<std::string>& notes) {
  Sheet sheet;
  sheet.name = "Notes";
  sheet.look = Look::kList;
  sheet.columns = {{"Note", Format::kText, 100}};
  for (const std::string& note : notes) sheet.rows.push_back({{note}});
  return sheet;
}

}  // namespace mpa::writers
