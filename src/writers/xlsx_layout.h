// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <xlsxwriter.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

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
/// alone.
int HeightOf(const Sheet& sheet, const Row& row, bool as_reference);

/// In points, of a row of headers in columns of these widths.
int HeaderHeight(const Sheet& sheet, const std::vector<double>& widths);

/// The rows of a table in a worksheet, as the library counts.
struct TableRows {
  lxw_row_t header = 0, last = 0;  ///< the last one is the header where there is no other
};

/// Filters on the headers, which stay in sight and are repeated on each page; pages are as wide as
/// the table; bars show differences.
void MakeReadable(lxw_worksheet* worksheet, const Sheet& sheet, const TableRows& rows);

/// Prints on pages in landscape that show all columns, from the first to the last cell. Rows up to
/// `header` are on each page.
void SetUpPages(lxw_worksheet* worksheet, lxw_row_t header, lxw_row_t last_row,
                lxw_col_t last_column);

/// Bars in the cells of differences: to the right what grew, to the left what shrank.
void AddBars(lxw_worksheet* worksheet, const Sheet& sheet, const TableRows& rows);

/// Of bars: what grew, and what shrank.
inline constexpr lxw_color_t kGrownColor = 0xED7D31, kShrunkColor = 0x4472C4;

/// A cell of the workbook: the name of its worksheet, and its row as the library counts.
struct CellPlace {
  std::string worksheet;
  lxw_row_t row = 0;
};
/// Where a row of a sheet stands; empty: nowhere.
using PlaceOfRow = std::function<std::optional<CellPlace>(const RowPlace&)>;

/// Writes the summary of the report into its worksheet: the title, the verdict, the facts and the
/// tables, one below the other, with links to the rows that have the details, and the charts beside
/// them.
void WriteSummary(const Report& report, lxw_workbook* workbook, lxw_worksheet* worksheet,
                  Styles& styles, const WorkbookLimits& limits, const PlaceOfRow& place_of);

}  // namespace mpa::writers
