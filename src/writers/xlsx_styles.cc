// SPDX-License-Identifier: Apache-2.0
// What cells of workbooks look like.

#include <algorithm>
#include <cstddef>

#include "mpa/report/palette.h"
#include "xlsx_cells.h"

namespace mpa::writers {
namespace {

// Of growth, as the Python tool has it.
constexpr lxw_color_t kRed = 0xFF0000;
constexpr lxw_color_t kBorder = 0xBFBFBF;
constexpr lxw_color_t kNoFill = 0xFFFFFFFF;

// What fills cells of one kind.
struct Palette {
  lxw_color_t base, comparison, list, section, part;
};
constexpr Palette kOfReference = {0x00FF00, 0xFFFF00, 0xAFEEEE, 0x00BFFF, 0x87CEFA};
constexpr Palette kForPeople = {0xDDEBF7, 0xFFF2CC, 0xDDEBF7, 0xBDD7EE, 0xDEEBF7};

const char* NumberFormat(Format format) {
  switch (format) {
    case Format::kInteger:
      return "#,##0";
    case Format::kDecimals2:
      return "#,##0.00";
    case Format::kDecimals3:
      return "#,##0.000";
    case Format::kDecimals4:
      return "0.0000";
    case Format::kPercent:
      return "0.00%";
    case Format::kGrowth:
      return "+0.0%;-0.0%;0.0%";
    case Format::kGeneral:
    case Format::kText:
      break;
  }
  return "General";
}

// Lists show ids as they are: no separators between thousands.
Format ListFormat(Format format) {
  return format == Format::kInteger || format == Format::kGeneral ? Format::kText : format;
}

lxw_color_t FillOf(Emphasis emphasis, const Palette& palette) {
  if (emphasis == Emphasis::kSection) return palette.section;
  return emphasis == Emphasis::kPart ? palette.part : kNoFill;
}

}  // namespace

bool IsWrapped(const Column& column) {
  constexpr double kLongTexts = 36;
  return column.format == Format::kText && column.width >= kLongTexts;
}

const SheetStyles& Styles::For(const Sheet& sheet) {
  const bool list = sheet.look == Look::kList;
  const Palette& palette = as_reference_ ? kOfReference : kForPeople;
  const auto header = [&](Side side, bool wraps) {
    const lxw_color_t fill = side == Side::kComparison ? palette.comparison : palette.base;
    return Get(Format::kGeneral, fill, 0, true, Look::kComparison, wraps);
  };
  SheetStyles& styles = sheets_.emplace_back();
  for (const Banner& banner : sheet.banners) styles.banners.push_back(header(banner.side, false));
  for (const Column& column : sheet.columns) {
    styles.headers.push_back(
        list ? Get(Format::kGeneral, palette.list, 0, true, Look::kList, !as_reference_)
             : header(column.side, !as_reference_));
  }
  // Rows that are made look alike.
  const std::size_t rows =
      sheet.rows.AreMade() ? std::min<std::size_t>(1, sheet.rows.size()) : sheet.rows.size();
  for (std::size_t i = 0; i < rows; ++i) {
    const Row& row = sheet.rows[i];
    const auto [data, is_new] = styles.data_.try_emplace({row.emphasis, row.indent});
    if (!is_new) continue;
    for (const Column& column : sheet.columns) {
      const int indent = data->second.empty() ? row.indent : 0;  // of the first cell alone
      data->second.push_back(
          list ? Get(ListFormat(column.format), kNoFill, 0, false, Look::kList, IsWrapped(column))
               : Get(column.format, FillOf(row.emphasis, palette), indent,
                     column.format == Format::kGeneral, Look::kComparison));
    }
  }
  for (const Column& column : sheet.columns) {
    if (!column.marks_growth) continue;
    styles.growth.resize(sheet.columns.size());
    styles.growth[static_cast<std::size_t>(&column - sheet.columns.data())] =
        as_reference_ ? Get(Format::kPercent, kRed, 0, false, sheet.look)
                      : Get(column.format, ColourOf(Tint::kWorse).light, 0, false, sheet.look);
  }
  return styles;
}

lxw_format* Styles::Get(Format format, lxw_color_t fill, int indent, bool bold, Look look,
                        bool wraps) {
  lxw_format*& style = styles_[{format, fill, indent, bold, look, wraps}];
  if (style != nullptr) return style;
  style = workbook_add_format(workbook_);
  if (as_reference_) {
    format_set_font_name(style, look == Look::kList ? "Times New Roman" : "Arial");
    format_set_font_size(style, 11);
    if (look == Look::kComparison) format_set_align(style, LXW_ALIGN_LEFT);
    format_set_align(style, LXW_ALIGN_VERTICAL_CENTER);
  } else {
    format_set_font_name(style, "Arial");
    format_set_font_size(style, kFontSize);
    format_set_border_color(style, kBorder);
    // Of texts with several lines in a row of one, the first one is seen.
    format_set_align(style, LXW_ALIGN_VERTICAL_TOP);
    if (fill == ColourOf(Tint::kWorse).light) format_set_font_color(style, LXW_COLOR_WHITE);
  }
  format_set_border(style, LXW_BORDER_THIN);
  format_set_num_format(style, NumberFormat(format));
  if (bold) format_set_bold(style);
  if (wraps) format_set_text_wrap(style);
  if (indent > 0) format_set_indent(style, static_cast<std::uint8_t>(indent));
  if (fill != kNoFill) {
    format_set_pattern(style, LXW_PATTERN_SOLID);
    format_set_fg_color(style, fill);
  }
  // The library numbers a style when a cell first has it, in a table of the whole workbook. Done
  // here, worksheets can be written at the same time and in any order.
  lxw_format_get_xf_index(style);
  return style;
}

}  // namespace mpa::writers
