// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "mpa/model/device_tables.h"

namespace mpa {

/// How long a kernel kept the units of its cores busy, in thousandths of the time; of a kernel that
/// runs on both kinds of cores the busier ones count. -1: not measured.
struct UnitLoads {
  std::int16_t vec = -1, mac = -1, scalar = -1, mte1 = -1, mte2 = -1, mte3 = -1, fixpipe = -1;
};

/// `row` is of the kernels.
UnitLoads LoadsOf(const KernelLoads& loads, std::size_t row);

/// The load of the busiest unit; -1 or 0: not measured.
std::int16_t BusiestLoad(const UnitLoads& loads);

/// True where units were measured, and none is busy for most of the time.
bool IsUnbound(const UnitLoads& loads);

/// What the busiest unit does: "cube", "vector", "memory" (it loads or stores) or "scalar"; empty:
/// not measured. Of equal ones the first counts.
std::string_view BusiestUnit(const UnitLoads& loads);

}  // namespace mpa
