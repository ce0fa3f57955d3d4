// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/module_columns.h"

#include <algorithm>
#include <utility>

#include "mpa/report/member_columns.h"

namespace mpa {
namespace {

using Item = ModuleRowOfRank;

Column ModuleColumn(const char* name, const char* title, Format format, double width,
                    const char* meaning) {
  Column column = NamedColumn(name, format, width, meaning);
  column.in_workbook.title = title;
  return column;
}

Column Merged(Column column) {
  column.merges_equal = true;
  return column;
}

}  // namespace

std::vector<ColumnOf<Item>> ModuleColumns(const ModuleColumnNames& names) {
  return {{Merged(ModuleColumn(names.parent, "Parent Module", Format::kText, 40,
                               "Modules around the module, joined by '/'.")),
           Member<&Item::row, &ModuleStatisticRow::parent>},
          {Merged(ModuleColumn(names.module, "Module", Format::kText, 40,
                               "The module; a number marks calls that ran different operators.")),
           Member<&Item::row, &ModuleStatisticRow::module>},
          {ModuleColumn(names.op, "Op Name", Format::kText, 40, "The host operator."),
           Member<&Item::row, &ModuleStatisticRow::op>},
          {ModuleColumn(names.kernels, "Kernel List", Format::kText, 50,
                        "The kernels that one call of the operator launched."),
           Member<&Item::row, &ModuleStatisticRow::kernels>},
          {ModuleColumn(names.total, "Total Kernel Duration(ns)", Format::kDecimals2, 10,
                        "Time of the kernels in all calls, in ns."),
           [](const Item& item) -> Cell { return static_cast<double>(item.row->total); }},
          {ModuleColumn(names.average, "Avg Kernel Duration(ns)", Format::kDecimals2, 10,
                        "Time of the kernels in one call, in ns."),
           Member<&Item::row, &ModuleStatisticRow::average>},
          {ModuleColumn(names.count, "Op Count", Format::kInteger, 10, "Calls of the operator."),
           Member<&Item::row, &ModuleStatisticRow::count>}};
}

ColumnOf<Item> ModuleMfuColumn(const ModuleColumnNames& names) {
  Column column = ModuleColumn(names.mfu, "Avg MFU", Format::kText, 10,
                               "Mean MFU of each kernel of the list, joined by ','.");
  column.in_workbook.shown = InWorkbook::Shown::kIfAny;
  return {std::move(column), Member<&Item::row, &ModuleStatisticRow::mfu>};
}

bool HasMfu(const std::vector<ModuleStatisticRow>& rows) {
  return std::ranges::any_of(rows, [](const ModuleStatisticRow& row) { return !row.mfu.empty(); });
}

}  // namespace mpa
