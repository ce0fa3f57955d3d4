// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/measure/module_statistic.h"
#include "mpa/report/report.h"

namespace mpa {

/// Which names the columns of modules have in databases.
struct ModuleColumnNames {
  const char *parent, *module, *op, *kernels, *total, *average, *count, *mfu;
};

/// A row of modules with the rank that it belongs to.
struct ModuleRowOfRank {
  std::int64_t rank = -1;
  const ModuleStatisticRow* row = nullptr;
};

/// The columns of rows of modules.
std::vector<ColumnOf<ModuleRowOfRank>> ModuleColumns(const ModuleColumnNames& names);
/// The utilisation of the kernels; workbooks have it where a row has one.
ColumnOf<ModuleRowOfRank> ModuleMfuColumn(const ModuleColumnNames& names);

/// True if a row has a utilisation.
bool HasMfu(const std::vector<ModuleStatisticRow>& rows);

}  // namespace mpa
