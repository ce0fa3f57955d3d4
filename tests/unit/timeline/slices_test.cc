// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "mpa/timeline/longest_slices.h"
#include "mpa/timeline/rank_slices.h"

namespace mpa {
namespace {

Slice MadeSlice(TimeNs start, TimeNs end, std::uint32_t track = 0) {
  Slice slice;
  slice.start = start;
  slice.end = end;
  slice.track = track;
  return slice;
}

RankSlices MadeSlices(std::vector<Slice> slices) {
  RankSlices rank;
  rank.tracks = {{TrackKind::kThread, 7, "thread 7"}};
  rank.slices = std::move(slices);
  return rank;
}

// "0:10-20" of each slice: track, start, end.
std::vector<std::string> Shown(const RankSlices& rank) {
  std::vector<std::string> shown;
  for (const Slice& slice : rank.slices)
    shown.push_back(fmt::format("{}:{}-{}", slice.track, slice.start, slice.end));
  return shown;
}

using Texts = std::vector<std::string>;

TEST(NestSlices, WhatOverlapsGoesToTracksBeside) {
  RankSlices rank =
      MadeSlices({MadeSlice(12, 30), MadeSlice(0, 20), MadeSlice(5, 10), MadeSlice(20, 25)});
  NestSlices(rank);
  EXPECT_EQ(Shown(rank), (Texts{"0:0-20", "0:5-10", "0:20-25", "1:12-30"}));
  EXPECT_EQ(rank.tracks[1].name, "thread 7 (2)");
  EXPECT_EQ(rank.moved, 1u);
}

TEST(NestSlices, ABrokenTrackIsCut) {
  std::vector<Slice> slices;
  for (int i = 0; i < 100; ++i) slices.push_back(MadeSlice(i, 1000 + i));
  RankSlices rank = MadeSlices(std::move(slices));
  NestSlices(rank);
  EXPECT_EQ(rank.slices.size(), 100u);
  EXPECT_EQ(rank.tracks.size(), 32u);
  // The last track holds the rest, none of which ends behind the first.
  EXPECT_EQ(rank.slices.back().end, 1031);
  EXPECT_EQ(rank.slices.back().cut, kCutEnd);
}

TEST(NestSlices, ArrowsStayWithTheirSlices) {
  RankSlices rank = MadeSlices({MadeSlice(40, 50, 1), MadeSlice(0, 20)});
  rank.tracks = {{TrackKind::kThread, 7, "thread 7"}, {TrackKind::kStream, 2, "stream 2"}};
  rank.arrows = {{0, 0, 5}, {0, 0, 25}};  // nothing runs on the thread at 25
  NestSlices(rank);
  const std::vector<Arrow> bound = BoundArrows(rank);
  ASSERT_EQ(bound.size(), 1u);
  EXPECT_EQ(rank.slices[bound[0].slice].start, 40);
  EXPECT_EQ(bound[0].track, 0u);
}

TEST(LongestSlices, KeepsTheLongestOfAllRanksInAnyOrder) {
  for (const bool backwards : {false, true}) {
    LongestSlices longest(3);
    for (const std::size_t rank :
         backwards ? std::vector<std::size_t>{2, 1, 0} : std::vector<std::size_t>{0, 1, 2}) {
      const auto length = static_cast<TimeNs>(rank + 1);
      longest.Add(rank, MadeSlices({MadeSlice(0, length), MadeSlice(10, 15), MadeSlice(20, 21)}));
    }
    // Each has one of 5, and one rank one of 3.
    const std::vector<RankSlices> kept = longest.Take();
    ASSERT_EQ(kept.size(), 3u);
    for (const RankSlices& rank : kept) {
      EXPECT_EQ(Shown(rank), (Texts{"0:10-15"}));
      EXPECT_EQ(rank.left_out, 2u);
    }
  }
}

TEST(LongestSlices, OfEquallyLongOnesThoseOfTheFirstRanksStay) {
  LongestSlices longest(3);
  for (const std::size_t rank : {1, 0})
    longest.Add(rank, MadeSlices({MadeSlice(0, 5), MadeSlice(10, 15)}));
  const std::vector<RankSlices> kept = longest.Take();
  EXPECT_EQ(kept[0].slices.size(), 2u);
  EXPECT_EQ(Shown(kept[1]), (Texts{"0:0-5"}));
}

}  // namespace
}  // namespace mpa
