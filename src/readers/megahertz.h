// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mpa::readers {

/// True for a frequency that a core can run at.
constexpr bool IsClock(std::int64_t mhz) {
  constexpr std::int64_t kMost = 1'000'000;
  return mhz > 0 && mhz <= kMost;
}

}  // namespace mpa::readers
