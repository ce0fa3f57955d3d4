// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mpa {

/// Nanoseconds: a point in time (since the epoch of the capture's clock) or a duration.
/// Never converted to double except for display.
using TimeNs = std::int64_t;

/// True for a point in time that an event can have. Times beyond that come from broken files, and
/// the difference of two, or the end of an event, would overflow.
constexpr bool IsTime(TimeNs time) {
  constexpr TimeNs kLast = 4'000'000'000'000'000'000;  // in the year 2096
  return time >= -kLast && time <= kLast;
}

/// True for a duration that an event can have. What a broken file says beyond that would overflow
/// the sums.
constexpr bool IsDuration(TimeNs dur) {
  constexpr TimeNs kMaxLength = 1'000'000'000'000'000;  // 11 days
  return dur >= 0 && dur <= kMaxLength;
}

/// For display.
constexpr double InUs(TimeNs time) { return static_cast<double>(time) / 1e3; }
constexpr double InMs(TimeNs time) { return static_cast<double>(time) / 1e6; }
constexpr double PercentOf(TimeNs part, TimeNs whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace mpa
