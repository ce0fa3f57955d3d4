// SPDX-License-Identifier: Apache-2.0
#include "holders.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "mpa/base/language.h"

namespace mpa::recipes::memory_timeline {
namespace {

// The rest of the peak, so that the list adds up to it.
void AddRest(const Level& peak, std::vector<Held>& holders) {
  std::int64_t shown = 0;
  for (const Held& one : holders) shown += one.bytes;
  const std::int64_t rest = peak.Allocated() - shown;
  if (rest != 0)
    holders.push_back({{.op = ToTranslate("(others)"), .category = Category::kUnknown}, 0, rest});
}

}  // namespace

std::vector<Held> HoldersAt(const Level& peak, const std::vector<Life>& lives,
                            const HolderOf& holder_of) {
  std::map<Holder, Held> found;
  auto unlisted = peak.bytes;  // by category
  for (const Life& life : lives) {
    if (!life.Holds(peak.time)) continue;
    Held& held = found[holder_of(life)];
    ++held.count;
    held.bytes += life.bytes;
    unlisted[static_cast<std::size_t>(life.category)] -= life.bytes;
  }
  std::vector<Held> holders;
  for (auto& [holder, held] : found) {
    held.holder = holder;
    holders.push_back(std::move(held));
  }
  for (std::size_t i = 0; i < kCategories; ++i) {
    const auto category = static_cast<Category>(i);
    const char* name = category == Category::kUnknown ? ToTranslate("(not listed)")
                                                      : ToTranslate("(before the capture)");
    if (unlisted[i] != 0) holders.push_back({{.op = name, .category = category}, 0, unlisted[i]});
  }
  SortByBytes(holders, kMaxHolders);
  AddRest(peak, holders);
  return holders;
}

std::vector<Band> BandsOf(const Level& peak, const std::vector<Held>& holders,
                          const std::vector<Level>& points, const std::vector<Life>& lives,
                          const HolderOf& holder_of) {
  constexpr std::size_t kMaxBands = 10;
  constexpr std::int64_t kLarge = 1000;
  std::vector<Band> bands;
  std::map<Holder, std::size_t> places;
  for (const Held& held : holders) {
    if (bands.size() == kMaxBands) break;
    if (held.count == 0) continue;  // of no call
    places.emplace(held.holder, bands.size());
    bands.push_back({held.holder, std::vector<std::int64_t>(points.size() + 1)});
  }
  const auto first_at = [&](TimeNs time) {
    return static_cast<std::size_t>(std::ranges::lower_bound(points, time, {}, &Level::time) -
                                    points.begin());
  };
  for (const Life& life : lives) {
    if (life.bytes < peak.Allocated() / kLarge) continue;
    const auto place = places.find(holder_of(life));
    if (place == places.end()) continue;
    std::vector<std::int64_t>& changes = bands[place->second].bytes;
    changes[first_at(life.begin)] += life.bytes;
    if (life.end != kNever) changes[first_at(life.end)] -= life.bytes;
  }
  for (Band& band : bands) {
    band.bytes.pop_back();  // changes behind the last point
    std::partial_sum(band.bytes.begin(), band.bytes.end(), band.bytes.begin());
  }
  return bands;
}

}  // namespace mpa::recipes::memory_timeline
