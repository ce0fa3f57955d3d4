// SPDX-License-Identifier: Apache-2.0
// Sorting of events by time.
#include "time_order.h"

#include <algorithm>

#include "mpa/base/parallel.h"

namespace mpa::raw {
namespace {

bool Before(const RowTime& a, const RowTime& b) {
  if (a.start != b.start) return a.start < b.start;
  if (a.end != b.end) return a.end > b.end;
  return a.row < b.row;
}

// Sorts parts in parallel, then merges neighbours until one is left.
void Sort(std::vector<RowTime>& rows) {
  constexpr std::size_t kParts = 16;
  constexpr std::size_t kWorthIt = 1 << 16;
  if (rows.size() < kWorthIt) {
    std::ranges::sort(rows, Before);
    return;
  }
  const auto bound = [&](std::size_t part) {
    return rows.begin() + static_cast<std::ptrdiff_t>(rows.size() * part / kParts);
  };
  ParallelFor(kParts, [&](std::size_t i) { std::sort(bound(i), bound(i + 1), Before); });
  for (std::size_t width = 1; width < kParts; width *= 2) {
    ParallelFor(kParts / (2 * width), [&](std::size_t i) {
      const std::size_t first = i * 2 * width;
      std::inplace_merge(bound(first), bound(first + width), bound(first + 2 * width), Before);
    });
  }
}

}  // namespace

std::vector<std::size_t> InOrder(std::vector<RowTime> rows) {
  if (!std::ranges::is_sorted(rows, Before)) Sort(rows);
  std::vector<std::size_t> order;
  order.reserve(rows.size());
  for (const RowTime& row : rows) order.push_back(row.row);
  return order;
}

std::vector<std::size_t> RangesInOrder(const std::vector<TimeNs>& start,
                                       const std::vector<TimeNs>& dur) {
  std::vector<RowTime> rows;
  rows.reserve(start.size());
  for (std::size_t row = 0; row < start.size(); ++row) {
    const TimeNs end = start[row] + dur[row];
    if (IsRange(start[row], end)) rows.push_back({start[row], end, row});
  }
  return InOrder(std::move(rows));
}

}  // namespace mpa::raw
