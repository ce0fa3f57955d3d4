// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/stable_sort.h"

#include <algorithm>
#include <numeric>

namespace mpa {

std::vector<std::uint32_t> SortedPositions(std::size_t count,
                                           bool (*before)(const void*, std::size_t, std::size_t),
                                           const void* context) {
  std::size_t in_order = 1;
  while (in_order < count && !before(context, in_order, in_order - 1)) ++in_order;
  if (in_order >= count) return {};
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order,
                           [&](std::uint32_t a, std::uint32_t b) { return before(context, a, b); });
  return order;
}

}  // namespace mpa
