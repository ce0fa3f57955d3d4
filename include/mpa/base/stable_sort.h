// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ranges>
#include <utility>
#include <vector>

/// Sorting for lists that no loop over events sorts. Each std::ranges::stable_sort() is 5 KB of
/// code of its own, a seventh of a second to compile; here all lists share one, which sorts
/// positions.
namespace mpa {

/// The positions of `count` items in their order, those of equal items as they are; empty when all
/// are in order. `before(context, a, b)` tells whether the item at `a` has to stand before that at
/// `b`.
std::vector<std::uint32_t> SortedPositions(std::size_t count,
                                           bool (*before)(const void*, std::size_t, std::size_t),
                                           const void* context);

/// As std::ranges::stable_sort(), two or three times as slow.
template <typename Item, typename Less = std::ranges::less, typename Key = std::identity>
void StableSort(std::vector<Item>& list, const Less& less = {}, const Key& key = {}) {
  struct Context {
    const Item* items;
    const Less* less;
    const Key* key;
  } const context{list.data(), std::addressof(less), std::addressof(key)};
  const std::vector<std::uint32_t> order = SortedPositions(
      list.size(),
      [](const void* data, std::size_t a, std::size_t b) -> bool {
        const auto& [items, before, key_of] = *static_cast<const Context*>(data);
        return std::invoke(*before, std::invoke(*key_of, items[a]), std::invoke(*key_of, items[b]));
      },
      &context);
  if (order.empty()) return;
  std::vector<Item> sorted;
  sorted.reserve(list.size());
  for (const std::uint32_t position : order) sorted.push_back(std::move(list[position]));
  list.swap(sorted);
}

}  // namespace mpa
