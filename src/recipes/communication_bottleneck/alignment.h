// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "packed_events.h"

namespace mpa::bottleneck {

/// An event that two ranks have, and how much the slow one lags.
struct Lag {
  std::string name;
  TimeNs diff = 0;
};

/// Where a slow rank fell behind.
struct Lags {
  Lag duration;  ///< the event that took longest compared with the fast rank
  Lag start;     ///< the event that began latest
};

/// Pairs the events before `slow_end` and `fast_end` by name, from the last ones back to where both
/// ranks were together: the slow one at most `together` behind. Empty where they never were.
/// `shift`: what the clock of the fast rank is ahead.
std::optional<Lags> FindLags(const PackedEvents& slow, TimeNs slow_end, const PackedEvents& fast,
                             TimeNs fast_end, TimeNs shift, TimeNs together);

}  // namespace mpa::bottleneck
