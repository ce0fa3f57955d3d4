// SPDX-License-Identifier: Apache-2.0
#include "mpa/timeline/longest_slices.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace mpa {
namespace {

TimeNs LengthOf(const Slice& slice) { return slice.end - slice.start; }

// Leaves the texts that slices have.
void DropTexts(RankSlices& rank) {
  std::vector<std::uint32_t> moved_to(rank.texts.size(), 0);
  std::vector<std::string> texts = {""};
  const auto keep = [&](std::uint32_t& text) {
    if (text == 0) return;
    if (moved_to[text] == 0) {
      moved_to[text] = static_cast<std::uint32_t>(texts.size());
      texts.push_back(std::move(rank.texts[text]));
    }
    text = moved_to[text];
  };
  for (Slice& slice : rank.slices) {
    keep(slice.name);
    keep(slice.type);
    keep(slice.shapes);
  }
  rank.texts = std::move(texts);
}

// Keeps the slices longer than `limit`, and of those as long as it the first `equal`, which is
// counted down.
void KeepLongest(TimeNs limit, std::size_t& equal, RankSlices& rank) {
  constexpr std::uint32_t kDropped = ~std::uint32_t{0};
  std::vector<std::uint32_t> moved_to(rank.slices.size(), kDropped);
  std::vector<Slice> kept;
  for (std::size_t i = 0; i < rank.slices.size(); ++i) {
    const TimeNs length = LengthOf(rank.slices[i]);
    if (length < limit || (length == limit && equal == 0)) continue;
    if (length == limit) --equal;
    moved_to[i] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(rank.slices[i]);
  }
  rank.left_out += rank.slices.size() - kept.size();
  rank.slices = std::move(kept);
  std::vector<Arrow> arrows;
  for (Arrow arrow : rank.arrows) {
    arrow.slice = moved_to[arrow.slice];
    if (arrow.slice != kDropped) arrows.push_back(arrow);
  }
  rank.arrows = std::move(arrows);
  DropTexts(rank);
}

void KeepLongest(std::size_t most, const std::vector<RankSlices*>& ranks) {
  std::vector<TimeNs> lengths;
  for (const RankSlices* rank : ranks) {
    for (const Slice& slice : rank->slices) lengths.push_back(LengthOf(slice));
  }
  if (lengths.size() <= most) return;
  const auto last = lengths.begin() + static_cast<std::ptrdiff_t>(most) - 1;
  std::ranges::nth_element(lengths, last, std::greater());
  const TimeNs limit = *last;
  // What is longer lies before it.
  auto equal = static_cast<std::size_t>(std::count(lengths.begin(), last + 1, limit));
  lengths = {};
  for (RankSlices* rank : ranks) KeepLongest(limit, equal, *rank);
}

}  // namespace

void LongestSlices::Add(std::size_t position, RankSlices rank) {
  KeepLongest(most_, {&rank});
  const std::lock_guard lock(mutex_);
  count_ += rank.slices.size();
  ranks_.insert_or_assign(position, std::move(rank));
  if (count_ / 2 > most_) Prune();
}

void LongestSlices::Prune() {
  std::vector<RankSlices*> all;
  for (auto& [position, rank] : ranks_) all.push_back(&rank);
  KeepLongest(most_, all);
  count_ = std::min(count_, most_);
}

std::vector<RankSlices> LongestSlices::Take() {
  const std::lock_guard lock(mutex_);
  Prune();
  std::vector<RankSlices> taken;
  for (auto& [position, rank] : ranks_) taken.push_back(std::move(rank));
  ranks_.clear();
  return taken;
}

}  // namespace mpa
