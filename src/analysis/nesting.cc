// SPDX-License-Identifier: Apache-2.0
#include "nesting.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace mpa {

Nesting::Nesting(const std::vector<TimeNs>& start, const std::vector<TimeNs>& dur,
                 const std::vector<std::int32_t>& track)
    : parent_(start.size(), kNone), in_order_(start.size()), child_begin_(start.size() + 1, 0) {
  bounds_.reserve(start.size());
  std::int32_t tracks = 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    bounds_.push_back({start[i], start[i] + dur[i]});
    tracks = std::max(tracks, track[i] + 1);
  }
  std::iota(in_order_.begin(), in_order_.end(), 0u);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return std::pair{bounds_[a].start, bounds_[b].end} <
           std::pair{bounds_[b].start, bounds_[a].end};
  };
  // Captures mostly list spans in this order.
  if (!std::is_sorted(in_order_.begin(), in_order_.end(), before)) {
    std::stable_sort(in_order_.begin(), in_order_.end(), before);
  }

  of_track_.resize(static_cast<std::size_t>(tracks) + 1);
  std::vector<std::int64_t> current(of_track_.size(), kNone);
  for (const std::uint32_t span : in_order_) {
    const auto place = static_cast<std::size_t>(std::max(track[span], -1) + 1);
    std::int64_t outer = current[place];
    while (outer != kNone && bounds_[span].start > bounds_[static_cast<std::size_t>(outer)].end) {
      outer = parent_[static_cast<std::size_t>(outer)];
    }
    parent_[span] = outer;
    current[place] = span;
    of_track_[place].push_back(span);
    if (outer == kNone) {
      roots_.push_back(span);
    } else {
      ++child_begin_[static_cast<std::size_t>(outer) + 1];
    }
  }

  std::partial_sum(child_begin_.begin(), child_begin_.end(), child_begin_.begin());
  children_.resize(child_begin_.back());
  std::vector<std::uint32_t> next(child_begin_.begin(), std::prev(child_begin_.end()));
  for (const std::uint32_t span : in_order_) {
    if (parent_[span] == kNone) continue;
    children_[next[static_cast<std::size_t>(parent_[span])]++] = span;
  }
}

std::int64_t Nesting::LastBegun(std::int32_t track, TimeNs time) const {
  if (track < -1 || track >= Tracks()) return kNone;
  const std::vector<std::uint32_t>& spans =
      of_track_[static_cast<std::size_t>(std::int64_t{track} + 1)];
  const auto after = std::partition_point(
      spans.begin(), spans.end(), [&](std::uint32_t span) { return bounds_[span].start <= time; });
  return after == spans.begin() ? kNone : *std::prev(after);
}

std::int64_t Nesting::Find(std::int32_t track, TimeNs time) const {
  std::int64_t span = LastBegun(track, time);
  while (span != kNone && bounds_[static_cast<std::size_t>(span)].end < time) {
    span = parent_[static_cast<std::size_t>(span)];
  }
  return span;
}

std::int64_t Nesting::FindAround(std::int32_t track, TimeNs time) const {
  std::int64_t span = LastBegun(track, time);
  while (span != kNone && (bounds_[static_cast<std::size_t>(span)].start >= time ||
                           bounds_[static_cast<std::size_t>(span)].end <= time)) {
    span = parent_[static_cast<std::size_t>(span)];
  }
  return span;
}

}  // namespace mpa
