// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/measure/module_statistic.h"

namespace mpa {

/// Rows of modules in the part of a recipe; `work`, which refers to the rank, is left out.
template <class Archive>
void serialize(Archive& archive, ModuleStatisticRow& row) {
  archive(row.parent, row.module, row.op, row.kernels, row.total, row.computed, row.average,
          row.count, row.mfu);
}

}  // namespace mpa
