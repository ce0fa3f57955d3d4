// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/base/time.h"

namespace mpa {

/// A span that competes with others for the time they share. The least priority wins, then the
/// least tie, then the least index.
struct Contender {
  TimeNs begin = 0, end = 0;
  std::int64_t tie = 0;
  std::int32_t priority = 0;
  std::uint32_t index = 0;
};

/// What one contender won.
struct Won {
  TimeNs begin = 0, end = 0;
  std::uint32_t index = 0;
  friend bool operator==(const Won&, const Won&) = default;
};

/// Who wins which time, in order of time; time that nobody asks for is left out. O(n log n).
std::vector<Won> Skyline(std::vector<Contender> contenders);

}  // namespace mpa
