// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "mpa/base/stable_sort.h"

/// Repeated rows of tables that have millions of rows and next to no repeated ones.
namespace mpa::promises {

/// A set of numbers that may say yes for one it does not have, one in 16 or fewer.
class ProbableSet {
 public:
  explicit ProbableSet(std::size_t size)
      : mask_(std::bit_ceil(16 * (size + 4)) - 1), words_((mask_ + 1) / 64) {}

  bool Add(std::uint64_t number) {  // false: it was there
    std::uint64_t& word = words_[(number & mask_) / 64];
    const std::uint64_t bit = std::uint64_t{1} << (number % 64);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }
  bool Has(std::uint64_t number) const {
    return (words_[(number & mask_) / 64] >> (number % 64) & 1) != 0;
  }

 private:
  std::uint64_t mask_;
  std::vector<std::uint64_t> words_;
};

template <typename... Cells>
std::uint64_t HashOf(const std::tuple<Cells...>& key) {
  std::uint64_t hash = 0;
  std::apply(
      [&](const auto&... cell) {
        ((hash = (hash ^ static_cast<std::uint64_t>(cell)) * 0x9E3779B97F4A7C15u,
          hash ^= hash >> 32),
         ...);
      },
      key);
  return hash;
}

/// The rows that a later one repeats; empty: none. `key_of` gives a tuple of numbers. Only suspects
/// are compared.
template <typename Table, typename KeyOf>
std::vector<bool> RepeatedEvents(const Table& table, KeyOf key_of) {
  ProbableSet seen(table.Size());
  std::vector<std::uint64_t> found_again;
  for (std::size_t i = 0; i < table.Size(); ++i) {
    const std::uint64_t hash = HashOf(key_of(i));
    if (!seen.Add(hash)) found_again.push_back(hash);
  }
  if (found_again.empty()) return {};
  ProbableSet suspected(found_again.size());
  for (const std::uint64_t hash : found_again) suspected.Add(hash);
  std::vector<std::size_t> suspects;
  for (std::size_t i = 0; i < table.Size(); ++i) {
    if (suspected.Has(HashOf(key_of(i)))) suspects.push_back(i);
  }
  StableSort(suspects, {}, key_of);
  std::vector<bool> repeated;
  for (std::size_t i = 1; i < suspects.size(); ++i) {
    if (key_of(suspects[i]) != key_of(suspects[i - 1])) continue;
    repeated.resize(table.Size());
    repeated[suspects[i - 1]] = true;
  }
  return repeated;
}

}  // namespace mpa::promises
