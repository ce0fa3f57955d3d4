// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "mpa/report/report.h"

namespace mpa::test {

/// A report of one sheet, named "Sheet".
inline Report OneSheet(std::vector<Column> columns, std::vector<Row> rows) {
  Report report;
  Sheet sheet;
  sheet.name = "Sheet";
  sheet.columns = std::move(columns);
  sheet.rows = std::move(rows);
  report.sheets.push_back(std::move(sheet));
  return report;
}

}  // namespace mpa::test
