// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "mpa/base/time.h"
#include "mpa/measure/device_work.h"

namespace mpa {

/// What sheets tell of many durations. All zero when there was none.
struct Durations {
  std::int64_t calls = 0;
  DeviceTime total, max, min;

  void Add(TimeNs dur, double its_rest = 0) {
    const DeviceTime time{dur, its_rest};
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
