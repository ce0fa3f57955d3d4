// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/rank_state.h"

#include <gtest/gtest.h>

#include "mpa/base/rank.h"
#include "support/in_chinese.h"

namespace mpa {
namespace {

AbsentRanks ThreeAbsent() {
  AbsentRanks absent;
  absent.Add(1, RankState::kPartMissing);
  absent.Add(2, RankState::kDamaged);
  absent.Add(3, RankState::kLeftOut);
  return absent;
}

TEST(RankState, EachHasItsWords) {
  const AbsentRanks absent = ThreeAbsent();
  EXPECT_EQ(absent.Text({1}), "part missing");
  EXPECT_EQ(absent.Text({2}), "damaged");
  EXPECT_EQ(absent.Text({3}), "left out");
  EXPECT_EQ(absent.Text({4}), "not captured");
  EXPECT_EQ(absent.Text({4, 1}), "rank 4 not captured, rank 1 part missing");
  EXPECT_EQ(InChinese([&] { return absent.Text({2}); }), "数据损坏");
  EXPECT_EQ(NameOf(RankState::kCaptured), "captured");
}

TEST(RankState, OfUnknownRanksOnlyWhatHoldsForAll) {
  AbsentRanks absent;
  EXPECT_EQ(absent.UnknownRank(), "a rank that was not captured");
  absent.Add(5, RankState::kNotCaptured);
  EXPECT_EQ(absent.UnknownRank(), "a rank that was not captured");
  EXPECT_EQ(ThreeAbsent().UnknownRank(), "a rank that was not read");
  EXPECT_EQ(ThreeAbsent().Of(std::vector<RankId>{}),
            (std::vector{RankState::kLeftOut, RankState::kDamaged, RankState::kPartMissing}));
}

TEST(RankState, CountsWhatMayHaveBeenCaptured) {
  AbsentRanks absent;
  absent.Add(5, RankState::kNotCaptured);
  EXPECT_EQ(absent.Counts(), "");
  absent.Add(6, RankState::kDamaged);
  absent.Add(7, RankState::kDamaged);
  EXPECT_EQ(absent.Counts(), "2 damaged, 1 not captured");
}

TEST(RankState, WhoIsCapturedIsNotCalledAbsent) {
  AbsentRanks absent;
  absent.Add(3, RankState::kCaptured);
  EXPECT_EQ(absent.Text({3, 6}), "rank 3 captured, rank 6 not captured") << "they came together";
  EXPECT_FALSE(absent.AnyCaptured()) << "no other rank was captured";
  EXPECT_EQ(absent.Counts(), "");
  EXPECT_EQ(absent.UnknownRank(), "a rank that was not captured");
}

TEST(RankState, TheFirstStateCounts) {
  AbsentRanks absent = ThreeAbsent();
  absent.Add(2, RankState::kNotCaptured);
  EXPECT_EQ(absent.Of(2), RankState::kDamaged);
}

TEST(RankName, OfNoNumberIsUnknown) {
  EXPECT_EQ(RankName(-1), "unknown");
  EXPECT_EQ(RankFileName(-1), "unknown");
}

}  // namespace
}  // namespace mpa
