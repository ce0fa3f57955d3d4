// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/module_columns.h"

#include <algorithm>
#include <utility>

#include "mpa/report/member_columns.h"

namespace mpa {
namespace {

using Item = ModuleRowOfRank;

Column Merged(Column column) {
  column.merges_equal = true;
  return column;
}

}  // namespace

std::vector<ColumnOf<Item>> ModuleColumns(const ModuleColumnNames& names) {
  return {
      {Merged(NamedColumn(names.parent, Format::kText, 40,
                          "Modules around the module, joined by '/'.", "Parent Module")),
       Member<&Item::row, &ModuleStatisticRow::parent>},
      {Merged(NamedColumn(names.module, Format::kText, 40,
                          "The module; a number marks calls that ran different operators.",
                          "Module")),
       Member<&Item::row, &ModuleStatisticRow::module>},
      TextColumn<&Item::row, &ModuleStatisticRow::op>(names.op, 40, "The host operator.",
                                                      "Op Name"),
      TextColumn<&Item::row, &ModuleStatisticRow::kernels>(
          names.kernels, 50, "The kernels that one call of the operator launched.", "Kernel List"),
      {NamedColumn(names.total, Format::kDecimals2, 10, "Time of the kernels in all calls, in ns.",
                   "Total Kernel Duration(ns)"),
       [](const Item& item) -> Cell { return static_cast<double>(item.row->total); }},
      NumberColumn<&Item::row, &ModuleStatisticRow::average>(
          names.average, Format::kDecimals2, 10, "Time of the kernels in one call, in ns.",
          "Avg Kernel Duration(ns)"),
      CountColumn<&Item::row, &ModuleStatisticRow::count>(names.count, 10, "Calls of the operator.",
                                                          "Op Count")};
}

ColumnOf<Item> ModuleMfuColumn(const ModuleColumnNames& names) {
  Column column = NamedColumn(names.mfu, Format::kText, 10,
                              "Mean MFU of each kernel of the list, joined by ','.", "Avg MFU");
  column.in_workbook.shown = InWorkbook::Shown::kIfAny;
  return {std::move(column), Member<&Item::row, &ModuleStatisticRow::mfu>};
}

bool HasMfu(const std::vector<ModuleStatisticRow>& rows) {
  return std::ranges::any_of(rows, [](const ModuleStatisticRow& row) { return !row.mfu.empty(); });
}

}  // namespace mpa
