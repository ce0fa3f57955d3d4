// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mpa/base/time.h"

namespace mpa::head {

/// How a measure spreads over the calls that have it. Times are nanoseconds.
struct Spread {
  std::int64_t count = 0;
  TimeNs sum = 0, max = 0;
  TimeNs mean = 0, p50 = 0, p90 = 0;  ///< rounded; see quantiles.h
};

/// Empty when there are no values.
std::optional<Spread> SpreadOf(std::vector<TimeNs> values);

}  // namespace mpa::head
