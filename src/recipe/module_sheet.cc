// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/module_sheet.h"

#include <algorithm>

namespace mpa {

std::vector<Column> ModuleColumns(const ModuleColumnNames& names) {
  std::vector<Column> columns;
  constexpr std::array kWidths = {40.0, 40.0, 40.0, 50.0, 10.0, 10.0, 10.0};
  for (std::size_t i = 0; i < kWidths.size(); ++i) {
    const Format format = i < 4 ? Format::kText : i < 6 ? Format::kDecimals2 : Format::kInteger;
    columns.push_back({.name = names[i], .format = format, .width = kWidths[i]});
    columns.back().merges_equal = i < 2;
  }
  return columns;
}

std::vector<Cell> ModuleCells(const ModuleStatisticRow& row) {
  return {row.parent,  row.module, row.op, row.kernels, static_cast<double>(row.total),
          row.average, row.count};
}

bool HasMfu(const std::vector<ModuleStatisticRow>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const ModuleStatisticRow& row) { return !row.mfu.empty(); });
}

}  // namespace mpa
