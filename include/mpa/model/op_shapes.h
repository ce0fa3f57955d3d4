// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/model/rank_trace.h"

namespace mpa {

/// The shapes of the operators alone, where kernels have none of their own: traces of GPUs.
/// kOpDetails has them, too. The bit is counted from the top, as Tables counts from the bottom.
constexpr Tables kOpShapes = static_cast<Tables>(1ull << 63);

}  // namespace mpa
