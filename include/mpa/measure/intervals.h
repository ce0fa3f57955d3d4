// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "mpa/base/time.h"

namespace mpa {

/// [begin, end)
struct Interval {
  TimeNs begin = 0, end = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Intervals in order, disjoint, none empty: the form all functions below give, and expect.
using Intervals = std::vector<Interval>;

/// The time covered by any of `intervals`, which may overlap and come in any order.
Intervals Union(std::vector<Interval> intervals);
/// Rows of a table with the columns start and dur as one set of intervals.
template <typename Table>
Intervals Covered(const Table& table) {
  std::vector<Interval> rows;
  rows.reserve(table.Size());
  for (std::size_t i = 0; i < table.Size(); ++i) {
    rows.push_back({table.start[i], table.start[i] + table.dur[i]});
  }
  return Union(std::move(rows));
}

Intervals Union(const Intervals& a, const Intervals& b);
Intervals Intersection(const Intervals& a, const Intervals& b);
/// What of `a` is not in `b`.
Intervals Difference(const Intervals& a, const Intervals& b);
TimeNs Length(const Intervals& intervals);
/// The time of `intervals` within the window. Logarithmic, but for what lies in the window.
TimeNs LengthWithin(const Intervals& intervals, const Interval& window);
/// True for a time in one of the intervals. Logarithmic.
bool Contains(const Intervals& intervals, TimeNs time);
/// True if the window and one of the intervals share some time. Logarithmic.
bool Touches(const Intervals& intervals, const Interval& window);

/// A span that competes with others for the time they share. The least priority wins, then the
/// least index.
struct Contender {
  TimeNs begin = 0, end = 0;
  std::int32_t priority = 0;
  std::uint32_t index = 0;
};

/// What one contender won.
struct Won {
  TimeNs begin = 0, end = 0;
  std::int32_t priority = 0;
  std::uint32_t index = 0;
  friend bool operator==(const Won&, const Won&) = default;
};

/// Which span wins among those of equal priority: with kLatest the one that begins last; then the
/// one with the least index.
enum class Tie : std::uint8_t { kLeastIndex, kLatest };

/// Calls visit(won) for each time and the span that wins it, in order of time; time that no span
/// covers is left out. O(n log n).
void Skyline(std::vector<Contender> contenders, Tie tie,
             const std::function<void(const Won&)>& visit);

}  // namespace mpa
