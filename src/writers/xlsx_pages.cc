// SPDX-License-Identifier: Apache-2.0
// How worksheets are printed.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "xlsx_cells.h"
#include "xlsx_layout.h"

namespace mpa::writers {
namespace {

constexpr std::uint8_t kA4 = 9;
constexpr double kMargin = 0.4, kFooter = 0.6;  // inches
constexpr double kPointsOfInch = 72, kPointsOfPixel = 0.75;

// Smaller letters are not read on paper.
constexpr double kLeastPoints = 9;
const double kLeastScale = kLeastPoints / kFontSize;

// Between the margins of a page in landscape.
constexpr double kRoom = 297 / 25.4 * kPointsOfInch - 2 * kMargin * kPointsOfInch;

double PointsOf(const std::vector<double>& widths, std::size_t first, std::size_t last) {
  double points = 0;
  for (std::size_t i = first; i < last; ++i) points += kPointsOfPixel * PixelsOf(widths[i]);
  return points;
}

}  // namespace

double PixelsOf(double width) {
  constexpr double kDigit = 7, kPadding = 5;  // of Calibri 11, by which Excel counts
  return std::floor(width * kDigit + kPadding);
}

double PixelsOfPage() { return std::floor(kRoom / kLeastScale / kPointsOfPixel); }

std::size_t KeyColumns(const Sheet& sheet, const std::vector<double>& widths) {
  const double page = kPointsOfPixel * PixelsOfPage();
  const auto fits = [&](std::size_t keys) {
    double widest = 0;
    for (std::size_t i = keys; i < widths.size(); ++i)
      widest = std::max(widest, PointsOf(widths, i, i + 1));
    return PointsOf(widths, 0, keys) + widest <= page;
  };
  if (widths.empty() || !fits(1)) return 0;
  std::size_t keys = 1;
  constexpr double kMost = 1.0 / 3;  // of a page
  const auto is_name = [&](std::size_t column) {
    const Format format = sheet.columns[column].format;
    return format == Format::kText || format == Format::kGeneral;
  };
  while (keys < widths.size() && is_name(keys) && PointsOf(widths, 0, keys + 1) <= kMost * page &&
         fits(keys + 1))
    ++keys;
  return keys;
}

void SetUpPages(lxw_worksheet* worksheet, const TableRows& rows, const PageColumns& columns) {
  const std::size_t count = columns.widths.size();
  const double width = PointsOf(columns.widths, 0, count);
  const double scale = std::clamp(kRoom / width, kLeastScale, 1.0);
  worksheet_set_landscape(worksheet);
  worksheet_set_paper(worksheet, kA4);
  worksheet_set_margins(worksheet, kMargin, kMargin, kMargin, kFooter);
  worksheet_set_print_scale(worksheet, static_cast<std::uint16_t>(100 * scale));
  worksheet_print_across(worksheet);
  Check(worksheet_repeat_rows(worksheet, 0, rows.header), "repeating headers");
  if (columns.keys > 0 && width > kPointsOfPixel * PixelsOfPage())
    Check(worksheet_repeat_columns(worksheet, 0, Col(columns.keys - 1)), "repeating names");
  if (columns.beyond > 0) {
    lxw_col_t breaks[] = {Col(count), 0};
    Check(worksheet_set_v_pagebreaks(worksheet, breaks), "setting up pages");
  }
  Check(worksheet_print_area(worksheet, 0, 0, rows.last, Col(count + columns.beyond - 1)),
        "setting up pages");
  Check(worksheet_set_footer(worksheet, "&L&A&R&P / &N"), "setting up pages");
}

}  // namespace mpa::writers
