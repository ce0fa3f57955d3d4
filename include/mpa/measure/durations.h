// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

#include "mpa/base/time.h"

namespace mpa {

/// A sum that stays exact, also of durations that are finer than a nanosecond. Counts bytes as
/// well.
struct ExactSum {
  std::int64_t whole = 0;
  double rest = 0;  ///< less than 1 where the sum is of one duration; see DeviceTasks

  void Add(std::int64_t amount, double fraction_ns = 0) {
    whole += amount;
    rest += fraction_ns;
  }
  void Add(const ExactSum& other) { Add(other.whole, other.rest); }
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

/// Count, sum and extremes of durations; all zero if none was added.
struct Durations {
  std::int64_t calls = 0;
  ExactSum total, max, min;

  void Add(TimeNs dur, double fraction_ns = 0) {
    const ExactSum time{dur, fraction_ns};
    Add({.calls = 1, .total = time, .max = time, .min = time});
  }
  void Add(const Durations& other) {
    min = calls == 0 ? other.min : std::min(min, other.min);
    max = calls == 0 ? other.max : std::max(max, other.max);
    calls += other.calls;
    total.Add(other.total);
  }
};

}  // namespace mpa
