// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "mpa/base/time.h"
#include "mpa/model/issues.h"
#include "mpa/raw/session.h"

namespace mpa::raw {

/// The clock of the FRAMEWORK files: host counter ticks, or monotonic nanoseconds where the host
/// has no counter.
struct FrameworkClock {
  bool counter = false;    ///< time stamps are ticks
  std::int64_t hertz = 0;  ///< of the counter
  std::int64_t count = 0;  ///< anchor in ticks ...
  TimeNs monotonic = 0;    ///< ... and the same instant in monotonic ns
  TimeNs offset = 0;       ///< from monotonic to the epoch
  /// See Clock.
  TimeNs earliest = std::numeric_limits<TimeNs>::min();
  TimeNs latest = std::numeric_limits<TimeNs>::max();
  bool IsPlausible(TimeNs time) const { return time >= earliest && time <= latest; }

  /// Nanoseconds since the epoch, rounded down.
  TimeNs Ns(std::int64_t stamp) const;
};

/// `clock` if, according to it, the first operators of FRAMEWORK began while the collection ran.
/// Otherwise the clock with the other unit of stamps, or one by which they begin when the
/// collection did; the correction is counted.
FrameworkClock FittingClock(const FrameworkClock& clock, const SessionInfo& info, Issues& issues);

}  // namespace mpa::raw
