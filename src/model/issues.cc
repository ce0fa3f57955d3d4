// SPDX-License-Identifier: Apache-2.0
// Counted problems of one rank.
#include "mpa/model/issues.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpa/base/language.h"

namespace mpa {

void Issues::Count(Promise broken, std::string_view what, std::string_view place) {
  auto found = counts_.find(what);
  if (found == counts_.end()) {
    found = counts_.emplace(std::string(what), Entry{broken, 0, std::string(place)}).first;
  }
  ++found->second.count;
}

void Issues::Merge(const Issues& later) {
  for (const auto& [what, entry] : later.counts_) {
    const auto [found, is_new] = counts_.emplace(what, entry);
    if (!is_new) found->second.count += entry.count;
  }
}

bool Issues::Breaks(Promise promise) const {
  return std::ranges::any_of(counts_,
                             [&](const auto& kind) { return kind.second.promise == promise; });
}

std::string Issues::Line(std::string_view what, const Entry& entry) {
  // Kept in English where it has no values, because promises are distinguished by it.
  const std::string_view text = Translated(what), place = Translated(entry.first_place);
  return entry.count == 1 ? Say("{} ({})", text, place)
                          : Say("{}, {} times (first: {})", text, entry.count, place);
}

std::vector<std::string> Issues::Lines() const {
  std::vector<std::string> lines;
  for (const auto& [what, entry] : counts_) lines.push_back(Line(what, entry));
  return lines;
}

std::vector<std::string> Issues::Lines(Promise promise) const {
  std::vector<std::string> lines;
  for (const auto& [what, entry] : counts_) {
    if (entry.promise == promise) lines.push_back(Line(what, entry));
  }
  return lines;
}

}  // namespace mpa
