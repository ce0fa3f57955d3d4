// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/measure/accounting.h"
#include "mpa/model/op_shapes.h"

namespace mpa {

/// What a part is made of.
constexpr Tables kPartTables = kAccountTables | Tables::kJobInfo | Tables::kCoreClocks |
                               Tables::kKernelTensors | Tables::kChips | Tables::kMemorySamples |
                               Tables::kKernelCounters | Tables::kKernelLoads | Tables::kOpStacks |
                               Tables::kBackwardLinks | Tables::kThreadStates | Tables::kCounters |
                               Tables::kFunctionCounts | kOpShapes;

}  // namespace mpa
