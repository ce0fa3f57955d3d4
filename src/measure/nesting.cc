// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/nesting.h"

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
    while (outer != kNone && bounds_[span].start >= bounds_[static_cast<std::size_t>(outer)].end) {
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
  LinkOutlasting();
}

// The ends grow along outlasting_. Where skip_ leads to makes the way up from any depth logarithmic
// (Myers, "An applicative random-access stack", 1983).
void Nesting::LinkOutlasting() {
  outlasting_.assign(bounds_.size(), kNone);
  skip_.assign(bounds_.size(), kNone);
  std::vector<std::uint32_t> level(bounds_.size(), 0);
  const auto at = [](const auto& column, std::int64_t span) {
    return column[static_cast<std::size_t>(span)];
  };
  for (const std::uint32_t span : in_order_) {
    std::int64_t outer = parent_[span];
    while (outer != kNone && at(bounds_, outer).end <= bounds_[span].end) {
      outer = at(outlasting_, outer);
    }
    outlasting_[span] = skip_[span] = outer;
    if (outer == kNone) continue;
    level[span] = at(level, outer) + 1;
    const std::int64_t second = at(skip_, outer);
    if (second == kNone) continue;
    const std::int64_t third = at(skip_, second);
    if (third == kNone) continue;
    if (at(level, outer) - at(level, second) == at(level, second) - at(level, third)) {
      skip_[span] = third;
    }
  }
}

std::int64_t Nesting::Find(std::int32_t track, TimeNs begin, TimeNs end) const {
  if (track < -1 || track >= Tracks()) return kNone;
  const std::vector<std::uint32_t>& spans =
      of_track_[static_cast<std::size_t>(std::int64_t{track} + 1)];
  const auto after = std::partition_point(
      spans.begin(), spans.end(), [&](std::uint32_t span) { return bounds_[span].start < begin; });
  if (after == spans.begin()) return kNone;
  const auto ends_before = [&](std::int64_t span) {
    return bounds_[static_cast<std::size_t>(span)].end < end;
  };
  std::int64_t span = *std::prev(after);
  while (span != kNone && ends_before(span)) {
    const std::int64_t skip = skip_[static_cast<std::size_t>(span)];
    span = skip != kNone && ends_before(skip) ? skip : outlasting_[static_cast<std::size_t>(span)];
  }
  return span;
}

std::int64_t Nesting::Find(std::int32_t track, TimeNs time) const {
  const std::int64_t at_its_end = Find(track, time + 1, time);
  if (at_its_end == kNone || bounds_[static_cast<std::size_t>(at_its_end)].start == time) {
    return at_its_end;
  }
  const std::int64_t running = Find(track, time + 1, time + 1);
  return running != kNone ? running : at_its_end;
}

std::int64_t Nesting::FindAround(std::int32_t track, TimeNs time) const {
  return Find(track, time, time + 1);
}

}  // namespace mpa
