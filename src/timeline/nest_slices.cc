// SPDX-License-Identifier: Apache-2.0
// Slices of a track that nest, and arrows that bind to them, as trace viewers need it.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "mpa/timeline/rank_slices.h"

namespace mpa {
namespace {

// Tracks beside one. What overlaps on more of them at once comes from a broken capture.
constexpr std::size_t kMaxLanes = 32;

// Slices of one track, in order, on lanes that nest.
class Lanes {
 public:
  // The lane of the next slice, which is cut if all lanes are taken.
  std::size_t Place(Slice& slice) {
    for (std::size_t lane = 0; lane < kMaxLanes; ++lane) {
      if (lane == ends_.size()) ends_.emplace_back();
      std::vector<TimeNs>& ends = ends_[lane];
      while (!ends.empty() && ends.back() <= slice.start) ends.pop_back();
      if (ends.empty() || slice.end <= ends.back()) {
        ends.push_back(slice.end);
        return lane;
      }
    }
    slice.end = ends_.back().back();
    slice.cut |= kCutEnd;
    ends_.back().push_back(slice.end);
    return kMaxLanes - 1;
  }
  std::size_t Count() const { return ends_.size(); }

 private:
  std::vector<std::vector<TimeNs>> ends_;  // of the open slices of each lane, the inner ones last
};

std::vector<std::uint32_t> Positions(std::size_t count) {
  std::vector<std::uint32_t> positions(count);
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

std::vector<std::uint32_t> InOrder(const std::vector<Slice>& slices) {
  std::vector<std::uint32_t> order = Positions(slices.size());
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const Slice &first = slices[a], &second = slices[b];
    return std::tuple(first.track, first.start, second.end, a) <
           std::tuple(second.track, second.start, first.end, b);
  });
  return order;
}

}  // namespace

void NestSlices(RankSlices& rank) {
  // Tracks in order of kind and number.
  std::vector<std::uint32_t> order = Positions(rank.tracks.size());
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const SliceTrack &first = rank.tracks[a], &second = rank.tracks[b];
    return std::tuple(first.kind, first.number) < std::tuple(second.kind, second.number);
  });
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  for (Slice& slice : rank.slices) slice.track = place[slice.track];

  std::vector<SliceTrack> tracks;
  std::vector<std::uint32_t> first_lane(order.size());
  const std::vector<std::uint32_t> rows = InOrder(rank.slices);
  auto row = rows.begin();
  for (std::uint32_t track = 0; track < order.size(); ++track) {
    first_lane[track] = static_cast<std::uint32_t>(tracks.size());
    Lanes lanes;
    for (; row != rows.end() && rank.slices[*row].track == track; ++row) {
      const std::size_t lane = lanes.Place(rank.slices[*row]);
      if (lane > 0) ++rank.moved;
      rank.slices[*row].track = first_lane[track] + static_cast<std::uint32_t>(lane);
    }
    const SliceTrack& base = rank.tracks[order[track]];
    for (std::size_t lane = 0; lane < std::max<std::size_t>(1, lanes.Count()); ++lane) {
      tracks.push_back(base);
      if (lane > 0) tracks.back().name += fmt::format(" ({})", lane + 1);
    }
  }
  rank.tracks = std::move(tracks);

  // Moved slices stand behind those of the tracks before theirs.
  const std::vector<std::uint32_t> nested = InOrder(rank.slices);
  std::vector<std::uint32_t> moved_to(nested.size());
  std::vector<Slice> slices;
  slices.reserve(nested.size());
  for (const std::uint32_t from : nested) {
    moved_to[from] = static_cast<std::uint32_t>(slices.size());
    slices.push_back(rank.slices[from]);
  }
  rank.slices = std::move(slices);
  for (Arrow& arrow : rank.arrows) {
    arrow.slice = moved_to[arrow.slice];
    arrow.track = first_lane[place[arrow.track]];
  }
}

namespace {

// Finds the slices of a rank that hold a moment.
class SliceFinder {
 public:
  explicit SliceFinder(const RankSlices& rank) : rank_(rank), parent_(rank.slices.size(), kNone) {
    first_.assign(rank.tracks.size() + 1, 0);
    for (const Slice& slice : rank.slices) ++first_[slice.track + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < rank.slices.size(); ++i) {
      const Slice& slice = rank.slices[i];
      while (!open.empty() && (rank.slices[open.back()].track != slice.track ||
                               rank.slices[open.back()].end <= slice.start))
        open.pop_back();
      if (!open.empty()) parent_[i] = open.back();
      open.push_back(i);
    }
  }

  // The track on which a slice holds the moment, of those of the thread: first one on which a slice
  // begins then.
  std::optional<std::uint32_t> Find(std::uint32_t thread, TimeNs time) const {
    std::optional<std::uint32_t> holding;
    for (std::uint32_t track = thread; track < rank_.tracks.size(); ++track) {
      if (rank_.tracks[track].kind != rank_.tracks[thread].kind ||
          rank_.tracks[track].number != rank_.tracks[thread].number)
        break;
      const auto begin = rank_.slices.begin() + first_[track],
                 end = rank_.slices.begin() + first_[track + 1];
      auto after = std::upper_bound(
          begin, end, time, [](TimeNs moment, const Slice& slice) { return moment < slice.start; });
      if (after == begin) continue;
      auto at = static_cast<std::uint32_t>(after - rank_.slices.begin() - 1);
      if (rank_.slices[at].start == time) return track;
      while (at != kNone && rank_.slices[at].end <= time) at = parent_[at];
      if (at != kNone && !holding) holding = track;
    }
    return holding;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  const RankSlices& rank_;
  std::vector<std::uint32_t> parent_;
  std::vector<std::ptrdiff_t> first_;  // slice of each track
};

}  // namespace

std::vector<Arrow> BoundArrows(const RankSlices& rank) {
  const SliceFinder finder(rank);
  std::vector<Arrow> bound;
  for (const Arrow& arrow : rank.arrows) {
    if (const auto track = finder.Find(arrow.track, arrow.time))
      bound.push_back({arrow.slice, *track, arrow.time});
  }
  return bound;
}

}  // namespace mpa
