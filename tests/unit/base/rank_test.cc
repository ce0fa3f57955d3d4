// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/rank.h"

#include <gtest/gtest.h>

#include <set>
#include <type_traits>
#include <vector>

#include "support/in_chinese.h"

namespace mpa {
namespace {

TEST(RankList, JoinsRanksThatFollowEachOther) {
  EXPECT_EQ(RankList(std::vector<RankId>{3}).Text(), "rank 3");
  EXPECT_EQ(RankList(std::vector<RankId>{0, 1}).Text(), "ranks 0, 1");
  EXPECT_EQ(RankList(std::vector<RankId>{9, 2, 0, 1, 2}).Text(), "ranks 0-2, 9")
      << "in order, each once";
  EXPECT_EQ(RankList(std::set<RankId>{4, 5, 6}).Names(), "4-6");
  EXPECT_EQ(RankList(std::vector<RankId>{}).Names(), "");
}

TEST(RankList, CountsWhatALineHasNoRoomFor) {
  const RankList every_second(std::vector<RankId>{0, 2, 4, 6, 8, 9});
  EXPECT_EQ(every_second.Text(), "ranks 0, 2, 4, 6 and 2 more");
  EXPECT_EQ(every_second.Text(1), "ranks 0 and 5 more");
  EXPECT_EQ(every_second.Names(RankList::kAllRuns), "0, 2, 4, 6, 8, 9");
  EXPECT_EQ(InChinese([&] { return every_second.Text(4); }), "rank 0, 2, 4, 6 及另外 2 个");
}

TEST(RankList, LabelsStandAloneAndOneUnknownRankMakesAllUnknown) {
  const RankId first = RankOfLabel("rank_list_a"), second = RankOfLabel("rank_list_b");
  EXPECT_EQ(RankList(std::vector<RankId>{second, first, 7}).Names(), "7, rank_list_a, rank_list_b");
  EXPECT_EQ(RankList(std::vector<RankId>{3, RankId()}).Text(), "rank unknown");
}

// A list of ranks is read at positions, never at the number of a process.
TEST(RankId, IsNoPositionAndNoPositionIsARank) {
  static_assert(!std::is_convertible_v<RankId, std::size_t>);
  static_assert(!std::is_convertible_v<RankId, RankIndex>);
  static_assert(!std::is_convertible_v<RankIndex, RankId>);
  static_assert(!std::is_convertible_v<std::size_t, RankId>);
  EXPECT_FALSE(RankId().IsKnown());
  EXPECT_EQ(RankName(RankId()), "unknown");
  EXPECT_TRUE(RankId(kMaxRanks - 1).IsNumber());
  EXPECT_TRUE(RankId(kMaxRanks).IsLabel());
}

}  // namespace
}  // namespace mpa
