// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/measure/module_statistic.h"

namespace mpa {

/// A row while it has no name of its own variant yet.
struct VariantRow {
  std::uint32_t variant = 0;   ///< which operators the module's calls ran, in order of appearance
  TimeNs op_start = 0;         ///< of the first of the row's operators
  std::uint32_t position = 0;  ///< of the operator in the module
  ModuleStatisticRow row;
};

/// Sorts the rows by the starts of their first operators; of those that start together the outer
/// one comes first.
void OrderRows(std::vector<VariantRow>& rows);

/// Appends the number of its variant to the name of each module that has several.
void NameVariants(VariantNaming naming, std::vector<VariantRow>& rows);

}  // namespace mpa
