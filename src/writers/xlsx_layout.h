// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <xlsxwriter.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpa/report/palette.h"
#include "mpa/report/report.h"
#include "xlsx_cells.h"

/// What makes worksheets easy to read, sort and print. Workbooks as the Python tool makes them have
/// none of it.
namespace mpa::writers {

/// The columns in characters: as wide as their first rows and headers need, but for texts that are
/// long anyway. Columns that break their texts keep their widths.
std::vector<double> FittedWidths(const Sheet& sheet);

/// In points: of lines in a cell that breaks its text, and of a row that shows one line of several.
inline constexpr int kLineHeight = 15, kFirstLineHeight = 13;

/// In points; 0: the reader's own. Readers do not all fit rows to texts that break: in LibreOffice
/// the lines would lie over those of the next row. Lists of kernels and call stacks in cells that
/// do not break would make rows of pages: but for `as_reference`, such rows show the first line
/// alone. `widths`: of the columns, where they are not those that the sheet declares.
int HeightOf(const Sheet& sheet, const Row& row, bool as_reference,
             std::span<const double> widths = {});

/// In points, of a row of headers in columns of these widths.
int HeaderHeight(const Sheet& sheet, const std::vector<double>& widths);

/// The rows of a table in a worksheet, as the library counts.
struct TableRows {
  lxw_row_t header = 0, last = 0;  ///< the last one is the header where there is no other
};

/// Filters on the headers, which stay in sight and are repeated on each page; bars show
/// differences. `widths`: of the columns.
void MakeReadable(lxw_worksheet* worksheet, const Sheet& sheet, const std::vector<double>& widths,
                  const TableRows& rows);

/// What stands on a page from left to right, as widths in characters.
struct PageColumns {
  std::vector<double> widths{};
  std::size_t keys = 0;    ///< the first ones, which name the rows: they are on each page
  std::size_t beyond = 0;  ///< more columns of the usual width, which begin a page
};

/// How many columns in front name the rows, and leave room for each of the others on a page.
std::size_t KeyColumns(const Sheet& sheet, const std::vector<double>& widths);

/// The width of all columns together that a page holds at most, in pixels.
double PixelsOfPage();
/// Of a column.
double PixelsOf(double width);

/// Prints on A4 in landscape. What is a little wider than a page is made smaller, but no letter
/// smaller than 9 points; wider sheets continue on pages beside. The headers are on each page, and
/// below them the name of the sheet and the number of the page.
void SetUpPages(lxw_worksheet* worksheet, const TableRows& rows, const PageColumns& columns);

/// Bars in the cells of differences: to the right what grew, to the left what shrank.
void AddBars(lxw_worksheet* worksheet, const Sheet& sheet, const TableRows& rows);

/// Of bars: what grew, and what shrank.
inline const lxw_color_t kGrownColor = ColourOf(Tint::kWorse).light;
inline const lxw_color_t kShrunkColor = ColourOf(Tint::kBetter).light;

/// A cell of the workbook: the name of its worksheet, and its row as the library counts.
struct CellPlace {
  std::string worksheet;
  lxw_row_t row = 0;
  lxw_col_t column = 0;
};
/// Where a cell of a sheet stands; empty: nowhere.
using PlaceOfRow = std::function<std::optional<CellPlace>(const RowPlace&)>;

/// Writes a summary into its worksheet: the title, the verdict, the facts and the tables, one below
/// the other, with links to the cells that have the same numbers, and the charts beside them.
void WriteSummary(const WorkbookSummary& summary, const std::vector<PageFact>& facts,
                  lxw_workbook* workbook, lxw_worksheet* worksheet, Styles& styles,
                  const WorkbookLimits& limits, const PlaceOfRow& place_of);

}  // namespace mpa::writers
