// SPDX-License-Identifier: Apache-2.0
// Cells of workbooks.
#include "xlsx_cells.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "mpa/base/error.h"
#include "sheet_values.h"
#include "xlsx_text.h"

namespace mpa::writers {
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

void AppendEscaped(std::string_view text, std::string& xml) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : text) {
    if (c == '&') {
      xml += "&amp;";
    } else if (c == '<') {
      xml += "&lt;";
    } else if (c == '>') {
      xml += "&gt;";
    } else if (IsEscapedControl(c)) {
      xml += "_x00";
      xml += kHex[static_cast<std::size_t>(c) >> 4];
      xml += kHex[static_cast<std::size_t>(c) & 15];
      xml += '_';
    } else {
      xml += c;
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
  const bool grown = shown.marks_growth && value > 1;
  if (grown) style = styles_.growth;
  if (grown && std::isinf(value)) {
    WriteText("INF", row, column, style);
  } else if (!std::isfinite(value)) {
    sink_.Blank(row, Col(column), style);
  } else {
    sink_.Number(row, Col(column), value, style);
  }
}

}  // namespace mpa::writers
