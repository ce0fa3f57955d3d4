// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "mpa/base/amounts.h"
#include "mpa/base/time.h"

namespace mpa {

/// A sum that stays exact, also of durations that are finer than a nanosecond. Counts bytes as
/// well.
struct ExactSum {
  std::int64_t whole = 0;
  double rest = 0;  ///< less than 1 where the sum is of one duration; see DeviceTasks

  ExactSum& operator+=(const ExactSum& other) {
    whole += other.whole;
    rest += other.rest;
    return *this;
  }
  friend auto operator<=>(const ExactSum&, const ExactSum&) = default;
  friend ExactSum operator-(const ExactSum& a, const ExactSum& b) {
    return {a.whole - b.whole, a.rest - b.rest};
  }
  /// Rounded once: what a capture says of a single task is printed with its digits.
  double In(long double unit) const {
    return static_cast<double>((static_cast<long double>(whole) + rest) / unit);
  }
  double Ns() const { return In(1); }
  double Us() const { return In(1e3L); }
  double Ms() const { return In(1e6L); }
};

using Durations = Tally<ExactSum>;

}  // namespace mpa
