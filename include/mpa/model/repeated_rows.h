// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "mpa/model/table.h"

namespace mpa {

inline constexpr const char* kWrittenTwice =
    "row left out, it was written twice; parse the capture again if there are many";

/// The rows that a later one repeats: counters are those of the last. `key_of` gives a row's key:
/// anything that can be ordered.
template <typename Table, typename KeyOf>
std::vector<bool> Repeated(const Table& table, KeyOf key_of) {
  std::vector<bool> repeated(table.Size(), false);
  const std::vector<std::size_t> rows = RowsBy(table.Size(), key_of);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (key_of(rows[i]) == key_of(rows[i - 1])) repeated[rows[i - 1]] = true;
  }
  return repeated;
}

/// Drops them; how many they were.
template <typename Table, typename KeyOf>
std::size_t DropRepeated(Table& table, KeyOf key_of) {
  const std::vector<bool> repeated = Repeated(table, key_of);
  const auto count = static_cast<std::size_t>(std::ranges::count(repeated, true));
  if (count > 0) table.Filter([&](std::size_t row) { return !repeated[row]; });
  return count;
}

}  // namespace mpa
