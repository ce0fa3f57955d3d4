// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "module_statistic.h"
#include "mpa/report/report.h"

namespace mpa {

/// Which names the columns of modules have in a kind of output.
struct ModuleColumnNames {
  std::array<const char*, 7> names;  ///< parent, module, operator, kernels, total, average, count
  const char* mfu;
};

/// The columns of rows of modules; that of the utilisation only on request.
std::vector<Column> ModuleColumns(const ModuleColumnNames& names, bool with_mfu);
/// The cells for these columns.
std::vector<Cell> ModuleCells(const ModuleStatisticRow& row, bool with_mfu);

/// True when a row tells of a utilisation.
bool HasMfu(const std::vector<ModuleStatisticRow>& rows);

}  // namespace mpa
