// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/measure/module_statistic.h"
#include "mpa/recipe/make_recipe.h"

namespace mpa {

/// Which names the columns of modules have in databases.
struct ModuleColumnNames {
  const char *parent, *module, *op, *kernels, *total, *average, *count, *mfu;
};

/// Rows of modules in the part of a recipe; `work`, which refers to the rank, is left out.
template <class Archive>
void serialize(Archive& archive, ModuleStatisticRow& row) {
  archive(row.parent, row.module, row.op, row.kernels, row.total, row.computed, row.average,
          row.count, row.mfu);
}

using ModuleRowOfRank = RowOfRank<ModuleStatisticRow>;

/// The columns of rows of modules.
std::vector<ColumnOf<ModuleRowOfRank>> ModuleColumns(const ModuleColumnNames& names);
/// The utilisation of the kernels; workbooks have it where a row has one.
ColumnOf<ModuleRowOfRank> ModuleMfuColumn(const ModuleColumnNames& names);

/// True if a row has a utilisation.
bool HasMfu(const std::vector<ModuleStatisticRow>& rows);

}  // namespace mpa
