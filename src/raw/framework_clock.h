// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpa/base/time.h"

namespace mpa::raw {

/// The clock of the FRAMEWORK files: host counter ticks, or monotonic nanoseconds where the host
/// has no counter.
struct FrameworkClock {
  bool counter = false;    ///< time stamps are ticks
  std::int64_t hertz = 0;  ///< of the counter
  std::int64_t count = 0;  ///< anchor in ticks ...
  TimeNs monotonic = 0;    ///< ... and the same instant in monotonic ns
  TimeNs offset = 0;       ///< from monotonic to the epoch

  /// Nanoseconds since the epoch, rounded down.
  TimeNs Ns(std::int64_t stamp) const;
};

}  // namespace mpa::raw
