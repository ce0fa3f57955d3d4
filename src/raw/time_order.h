// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "mpa/base/time.h"

namespace mpa::raw {

/// True for a valid range of an event; the ends of a broken one may be anything.
constexpr bool IsRange(TimeNs start, TimeNs end) {
  return start >= 0 && end >= start && IsTime(end) && IsDuration(end - start);
}

/// A row and what it is sorted by.
struct RowTime {
  TimeNs start = 0, end = 0;
  std::size_t row = 0;
};

/// The rows in order of start; of those that start together the longest first, then in row order.
/// Works on several cores.
std::vector<std::size_t> InOrder(std::vector<RowTime> rows);

/// The same for the rows of columns; rows with an invalid range are left out.
std::vector<std::size_t> RangesInOrder(const std::vector<TimeNs>& start,
                                       const std::vector<TimeNs>& dur);

}  // namespace mpa::raw
