// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "mpa/base/time.h"

namespace mpa {

/// When the first step of a capture does not count.
struct WarmUpLimits {
  double ratio = 1.2;       ///< it takes this many times as long as the others
  double compiling = 0.03;  ///< or compiling takes this share of it,
  double rest = 0.1;        ///< and in the others no more than this share of the compiling there
};

/// True if the first of three or more steps is warm-up: the advisor and the screens of recipes
/// leave it out. `lengths`: of the job's steps. `compiling`: time of the host that went into
/// compiling, by step, the sum of so many ranks.
bool FirstStepIsWarmUp(const std::vector<TimeNs>& lengths, const std::vector<TimeNs>& compiling,
                       std::size_t ranks, const WarmUpLimits& limits = {});

}  // namespace mpa
