// SPDX-License-Identifier: Apache-2.0
// Texts that a cell of a workbook can hold.
#include "xlsx_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "mpa/base/error.h"
#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"
#include "sheet_values.h"

namespace mpa::writers {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Characters that UTF-8 has and XML has not.
bool IsForbidden(std::string_view character) {
  return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

// "_x001B_" is how workbooks write an escape character.
bool LooksEscaped(std::string_view text) {
  return text.size() >= 7 && text.starts_with("_x") && text[6] == '_' &&
         text.substr(2, 4).find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

std::string ForWorkbook(std::string_view given) {
  const std::string text = Printable(ValidUtf8(given), Breaks::kKeep);
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text).substr(i);
    const std::size_t length = Utf8Length(rest);
    if (IsForbidden(rest.substr(0, length))) {
      clean += kReplacement;
    } else if (LooksEscaped(rest)) {
      clean += "_x005F_";  // an escaped underscore
    } else {
      clean += rest.substr(0, length);
    }
    i += length;
  }
  return clean;
}

// How many bytes of `text`, which is UTF-8, make at most `limit` UTF-16 units; sets `units` to
// their number.
std::size_t BytesOf(std::string_view text, std::size_t limit, std::size_t& units) {
  units = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = Utf8Length(text.substr(i));
    const std::size_t width = length == 4 ? 2 : 1;
    if (units + width > limit) return i;
    units += width;
    i += length;
  }
  return text.size();
}

}  // namespace

std::string FitName(std::string_view text, std::size_t limit) {
  std::string name = ValidUtf8(text);
  std::size_t units = 0;
  name.resize(BytesOf(name, limit, units));
  return name;
}

bool IsPlain(std::string_view text, std::size_t limit) {
  bool seen = true;  // and ASCII
  for (const char c : text) {
    seen &=
        (static_cast<signed char>(c) >= 0x20 && c != 0x7f) || c == '\n' || c == '\r' || c == '\t';
  }
  return seen && text.size() <= limit && text.find("_x") == std::string_view::npos;
}

CellText FitCell(std::string_view text, std::size_t limit) {
  CellText fitted{ForWorkbook(text)};
  if (fitted.text.size() <= limit) return fitted;  // no character has less than a byte
  std::size_t units = 0;
  if (BytesOf(fitted.text, limit, units) == fitted.text.size()) return fitted;
  BytesOf(fitted.text, fitted.text.size(), units);
  const std::string mark =
      fmt::format(" \xE2\x80\xA6 [cut: {} characters]", WithThousands(std::to_string(units)));
  const std::size_t mark_units = mark.size() - 2;  // the ellipsis has three bytes
  std::size_t kept = 0;
  fitted.text.resize(BytesOf(fitted.text, limit - std::min(limit, mark_units), kept));
  fitted.text += mark;
  fitted.cut = true;
  return fitted;
}

// Cells of workbooks.

namespace {

std::string PlaceOf(lxw_row_t row, std::size_t column) {
  std::array<char, LXW_MAX_CELL_NAME_LENGTH> name{};
  lxw_rowcol_to_cell(name.data(), row, Col(column));
  return name.data();
}

void AppendNumber(double value, std::string& text) {
  constexpr int kDigits = 16;  // as many as the library writes
  std::array<char, 32> digits{};
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                  std::chars_format::general, kDigits)
                        .ptr;
  std::replace(digits.data(), end, 'e', 'E');
  text.append(digits.data(), end);
}

// Control characters are written as _xHHHH_, but for tabs and line feeds.
bool IsEscapedControl(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code < 0x20 && c != '\t' && c != '\n';
}

bool StandsForItself(char c) { return c != '&' && c != '<' && c != '>' && !IsEscapedControl(c); }

void AppendEscaped(std::string_view text, std::string& xml) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  while (true) {
    const auto escaped = std::ranges::find_if_not(text, StandsForItself);
    const auto plain = static_cast<std::size_t>(escaped - text.begin());
    xml += text.substr(0, plain);
    if (plain == text.size()) return;
    const char c = text[plain];
    text.remove_prefix(plain + 1);
    if (c == '&') {
      xml += "&amp;";
    } else if (c == '<') {
      xml += "&lt;";
    } else if (c == '>') {
      xml += "&gt;";
    } else {
      xml += "_x00";
      xml += kHex[static_cast<std::size_t>(c) >> 4];
      xml += kHex[static_cast<std::size_t>(c) & 15];
      xml += '_';
    }
  }
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n'; }

}  // namespace

void Check(lxw_error error, const char* doing) {
  if (error == LXW_ERROR_MEMORY_MALLOC_FAILED) throw std::bad_alloc();
  if (error != LXW_NO_ERROR) Fail(ErrorKind::kOutput, "{}: {}", doing, lxw_strerror(error));
}

void LibraryCells::Blank(lxw_row_t row, lxw_col_t column, lxw_format* style) {
  Check(worksheet_write_blank(worksheet_, row, column, style), "writing a cell");
}

void LibraryCells::Number(lxw_row_t row, lxw_col_t column, double value, lxw_format* style) {
  Check(worksheet_write_number(worksheet_, row, column, value, style), "writing a cell");
}

void LibraryCells::Text(lxw_row_t row, lxw_col_t column, const std::string& text,
                        lxw_format* style) {
  // Always as text: what a capture contains must never run as a formula.
  Check(worksheet_write_string(worksheet_, row, column, text.c_str(), style), "writing a cell");
}

void XmlCells::BeginRow(lxw_row_t row, int height) {
  row_number_ = std::to_string(row + 1);
  xml_ += "<row r=\"";
  xml_ += row_number_;
  if (height > 0) {
    xml_ += "\" ht=\"";
    xml_ += std::to_string(height);
    xml_ += "\" customHeight=\"1";
  }
  xml_ += "\">";
}

void XmlCells::BeginCell(lxw_col_t column, const lxw_format* style) {
  while (column_names_.size() <= column) {
    std::array<char, LXW_MAX_COL_NAME_LENGTH> name{};
    lxw_col_to_name(name.data(), Col(column_names_.size()), 0);
    column_names_.emplace_back(name.data());
  }
  xml_ += "<c r=\"";
  xml_ += column_names_[column];
  xml_ += row_number_;
  xml_ += "\" s=\"";
  xml_ += std::to_string(style->xf_index);
}

void XmlCells::Blank(lxw_row_t, lxw_col_t column, lxw_format* style) {
  BeginCell(column, style);
  xml_ += "\"/>";
}

void XmlCells::Number(lxw_row_t, lxw_col_t column, double value, lxw_format* style) {
  BeginCell(column, style);
  xml_ += "\"><v>";
  AppendNumber(value, xml_);
  xml_ += "</v></c>";
}

void XmlCells::Text(lxw_row_t row, lxw_col_t column, const std::string& text, lxw_format* style) {
  if (text.empty()) {
    Blank(row, column, style);
    return;
  }
  BeginCell(column, style);
  xml_ += "\" t=\"inlineStr\"><is><t";
  if (IsSpace(text.front()) || IsSpace(text.back())) xml_ += " xml:space=\"preserve\"";
  xml_ += '>';
  AppendEscaped(text, xml_);
  xml_ += "</t></is></c>";
}

void Cuts::Add(const Cuts& others) {
  if (count == 0) first = others.first;
  count += others.count;
}

void CellWriter::BeginRow(const Row& row) {
  constexpr double kGrowthThatMatters = 1.01;
  if (as_reference_ || styles_.growth.empty()) return;
  least_growth_ = kGrowthThatMatters;
  if (!sheet_.least_change) return;
  const std::optional<double> change = ChangeOf(sheet_, row);
  const bool matters = change && *change >= *sheet_.least_change && *change > 0;
  least_growth_ = matters ? 1 : std::numeric_limits<double>::infinity();
}

void CellWriter::Write(const Cell& cell, lxw_row_t row, std::size_t column, lxw_format* style) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    WriteText(*text, row, column, style);
  } else if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    WriteNumber(InShownUnit(sheet_.columns[column].unit, *whole), row, column, style);
  } else if (const auto* real = std::get_if<double>(&cell)) {
    WriteNumber(*real, row, column, style);
  } else if (const auto* reason = std::get_if<NoNumber>(&cell)) {
    WriteText(std::string(TextOf(*reason)), row, column, style);
  } else {
    sink_.Blank(row, Col(column), style);
  }
}

void CellWriter::WriteText(const std::string& text, lxw_row_t row, std::size_t column,
                           lxw_format* style) {
  if (IsPlain(text, limits_.characters)) {
    sink_.Text(row, Col(column), text, style);
    return;
  }
  const CellText fitted = FitCell(text, limits_.characters);
  if (fitted.cut) cuts_.Add({1, PlaceOf(row, column)});
  sink_.Text(row, Col(column), fitted.text, style);
}

void CellWriter::WriteNumber(double value, lxw_row_t row, std::size_t column, lxw_format* style) {
  const Column& shown = sheet_.columns[column];
  if (shown.decimals) value = Rounded(value, *shown.decimals);
  const double ratio = shown.format == Format::kGrowth ? 1 + value : value;
  const bool grown = shown.marks_growth && ratio > 1;
  const bool matters = ratio >= least_growth_ && !std::isinf(least_growth_);
  if (grown && matters) style = styles_.growth[column];
  if (grown && std::isinf(value)) {
    WriteText("INF", row, column, style);
  } else if (!std::isfinite(value)) {
    sink_.Blank(row, Col(column), style);
  } else {
    sink_.Number(row, Col(column), value, style);
  }
}

}  // namespace mpa::writers
