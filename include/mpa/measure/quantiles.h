// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mpa {

// Medians and percentiles of every command. A quantile between two values lies on the straight line
// between them (as NumPy has it by default) and is rounded once, to the nearest whole number,
// halves up: quantiles move with their values, also below zero. Nothing goes through doubles.

/// The value below which `percent` (0 to 100) of the values lie. `sorted` is in ascending order; 0
/// for none.
std::int64_t Percentile(const std::vector<std::int64_t>& sorted, int percent);

/// Percentile 50 of values in any order; 0 for none.
std::int64_t Median(std::vector<std::int64_t> values);

/// The same of real numbers, which are not rounded.
double Median(std::vector<double> values);

/// The position of the value among `count` ascending ones that `percent` (1 to 100) of them do not
/// exceed: the nearest rank, for where the value has to be one of them. `count` is at least 1.
std::size_t PercentileIndex(std::size_t count, int percent);

/// The nearest rank from above (`percent` 0 to 99): the value that the other values, 100 -
/// `percent` of them, reach. Of two in the middle it is the greater one.
std::size_t PercentileIndexAbove(std::size_t count, int percent);

/// The value at `position` in ascending order. Changes the order of `values`.
template <typename Value>
Value ValueAtPosition(std::vector<Value>& values, std::size_t position) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(position);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

}  // namespace mpa
