// SPDX-License-Identifier: Apache-2.0
// What cells of workbooks look like.
#include <algorithm>

#include "xlsx_cells.h"

namespace mpa::writers {
namespace {

constexpr lxw_color_t kGreen = 0x00FF00;
constexpr lxw_color_t kYellow = 0xFFFF00;
constexpr lxw_color_t kRed = 0xFF0000;
constexpr lxw_color_t kDeepBlue = 0x00BFFF;
constexpr lxw_color_t kLightBlue = 0x87CEFA;
constexpr lxw_color_t kTurquoise = 0xAFEEEE;
constexpr lxw_color_t kNoFill = 0xFFFFFFFF;

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

lxw_color_t FillOf(Emphasis emphasis) {
  if (emphasis == Emphasis::kSection) return kDeepBlue;
  return emphasis == Emphasis::kPart ? kLightBlue : kNoFill;
}

}  // namespace

bool IsWrapped(const Column& column) {
  constexpr double kLongTexts = 36;
  return column.format == Format::kText && column.width >= kLongTexts;
}

const SheetStyles& Styles::For(const Sheet& sheet) {
  const bool list = sheet.look == Look::kList;
  const auto header = [&](Side side) {
    const lxw_color_t fill = side == Side::kComparison ? kYellow : kGreen;
    return Get(Format::kGeneral, fill, 0, true, Look::kComparison);
  };
  SheetStyles& styles = sheets_.emplace_back();
  for (const Banner& banner : sheet.banners) styles.banners.push_back(header(banner.side));
  for (const Column& column : sheet.columns) {
    styles.headers.push_back(list ? Get(Format::kGeneral, kTurquoise, 0, true, Look::kList)
                                  : header(column.side));
  }
  for (const Row& row : sheet.rows) {
    const auto [data, is_new] = styles.data_.try_emplace({row.emphasis, row.indent});
    if (!is_new) continue;
    for (const Column& column : sheet.columns) {
      const int indent = data->second.empty() ? row.indent : 0;  // of the first cell alone
      data->second.push_back(
          list ? Get(ListFormat(column.format), kNoFill, 0, false, Look::kList, IsWrapped(column))
               : Get(column.format, FillOf(row.emphasis), indent, column.format == Format::kGeneral,
                     Look::kComparison));
    }
  }
  if (std::ranges::any_of(sheet.columns,
                          [](const Column& column) { return column.marks_growth; })) {
    styles.growth = Get(Format::kPercent, kRed, 0, false, Look::kComparison);
  }
  return styles;
}

lxw_format* Styles::Get(Format format, lxw_color_t fill, int indent, bool bold, Look look,
                        bool wraps) {
  lxw_format*& style = styles_[{format, fill, indent, bold, look, wraps}];
  if (style != nullptr) return style;
  style = workbook_add_format(workbook_);
  format_set_font_name(style, look == Look::kList ? "Times New Roman" : "Arial");
  format_set_font_size(style, 11);
  if (look == Look::kComparison) format_set_align(style, LXW_ALIGN_LEFT);
  format_set_align(style, LXW_ALIGN_VERTICAL_CENTER);
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
