// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "mpa/base/time.h"

namespace mpa {

/// What sheets tell of many durations. All zero when there was none.
struct Durations {
  std::int64_t calls = 0;
  TimeNs total = 0, max = 0, min = 0;
  double rest = 0;  ///< what `total` lacks, see DeviceTasks

  void Add(TimeNs dur, double its_rest = 0) {
    Add({.calls = 1, .total = dur, .max = dur, .min = dur, .rest = its_rest});
  }
  void Add(const Durations& other) {
    min = calls == 0 ? other.min : std::min(min, other.min);
    max = calls == 0 ? other.max : std::max(max, other.max);
    calls += other.calls;
    total += other.total;
    rest += other.rest;
  }
  double TotalUs() const { return (static_cast<double>(total) + rest) / 1e3; }
};

}  // namespace mpa
