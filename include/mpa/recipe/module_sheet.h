// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "mpa/measure/module_statistic.h"
#include "mpa/report/report.h"

namespace mpa {

/// Which names the columns of modules have in a kind of output: parent, module, operator, kernels,
/// total, average, count.
using ModuleColumnNames = std::array<const char*, 7>;

/// The columns of rows of modules, without their utilisation, and the cells for these columns.
std::vector<Column> ModuleColumns(const ModuleColumnNames& names);
std::vector<Cell> ModuleCells(const ModuleStatisticRow& row);

/// True when a row tells of a utilisation.
bool HasMfu(const std::vector<ModuleStatisticRow>& rows);

}  // namespace mpa
