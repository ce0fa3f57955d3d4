// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "mpa/base/stable_sort.h"
#include "part.h"

/// Who holds memory, of any list of allocations.
namespace mpa::recipes::memory_timeline {

using HolderOf = std::function<Holder(const Life&)>;

/// Most bytes first. With those that are not among the lives, by category, they add up to the peak.
std::vector<Held> HoldersAt(const Level& peak, const std::vector<Life>& lives,
                            const HolderOf& holder_of);

/// What the largest of them hold at each of the points. Allocations of less than a thousandth of
/// the peak are in no band.
std::vector<Band> BandsOf(const Level& peak, const std::vector<Held>& holders,
                          const std::vector<Level>& points, const std::vector<Life>& lives,
                          const HolderOf& holder_of);

/// The order of such lists, and how long they are.
inline constexpr std::size_t kMaxHolders = 50, kMaxPoints = 200;
template <typename List>
void SortByBytes(List& list, std::size_t most) {
  StableSort(list, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (list.size() > most) list.resize(most);
}

}  // namespace mpa::recipes::memory_timeline
