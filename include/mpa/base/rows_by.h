// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <numeric>
#include <vector>

namespace mpa {

/// The rows 0..count-1 in order of key(row); those of one key in order of the rows.
template <typename Row = std::size_t, std::invocable<Row> Key>
std::vector<Row> RowsBy(std::size_t count, Key key) {
  std::vector<Row> rows(count);
  std::iota(rows.begin(), rows.end(), Row{0});
  // What was recorded mostly is in order.
  if (!std::ranges::is_sorted(rows, {}, key)) std::ranges::stable_sort(rows, {}, key);
  return rows;
}

/// The rows of a column, by its values.
template <typename Value>
std::vector<std::size_t> RowsBy(const std::vector<Value>& column) {
  return RowsBy(column.size(), [&](std::size_t row) { return column[row]; });
}

}  // namespace mpa
