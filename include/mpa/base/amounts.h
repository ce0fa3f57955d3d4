// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "mpa/base/time.h"

/// Sums that many measurements are made of.
namespace mpa {

/// How many values there are, their sum, the smallest and the largest; all zero without any.
template <typename T>
struct Tally {
  std::int64_t count = 0;
  T sum{}, min{}, max{};

  void AddOne(const T& value) { Add({1, value, value, value}); }
  void Add(const Tally& other) {
    if (other.count == 0) return;
    min = count == 0 ? other.min : std::min(min, other.min);
    max = count == 0 ? other.max : std::max(max, other.max);
    count += other.count;
    sum += other.sum;
  }
  /// Requires a value.
  double Mean() const { return static_cast<double>(sum) / static_cast<double>(count); }
};

struct TimeAndCount {
  TimeNs time = 0;
  std::int64_t count = 0;

  TimeAndCount operator+(const TimeAndCount& other) const {
    return {time + other.time, count + other.count};
  }
  void Add(TimeNs more) {
    time += more;
    ++count;
  }
  friend bool operator==(const TimeAndCount&, const TimeAndCount&) = default;
};

/// Transfers of data: how many, of how many bytes, and how long they took one after the other.
struct Traffic {
  std::int64_t count = 0;  ///< 0 where a capture only sums up
  std::int64_t bytes = 0;
  TimeNs time = 0;

  void Add(const Traffic& other) {
    count += other.count;
    bytes += other.bytes;
    time += other.time;
  }
  /// A byte per nanosecond is 1 GB/s.
  double GigabytesPerSecond() const {
    return time > 0 ? static_cast<double>(bytes) / static_cast<double>(time) : 0.0;
  }
  double Megabytes() const { return static_cast<double>(bytes) / 1e6; }
};

}  // namespace mpa
