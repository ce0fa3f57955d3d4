// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <xlsxwriter.h>

#include <functional>
#include <optional>
#include <string>

#include "mpa/report/report.h"
#include "xlsx_cells.h"

namespace mpa::writers {

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
