// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/rank_spread.h"

#include <gtest/gtest.h>

#include "mpa/recipe/rank_lines.h"

namespace mpa {
namespace {

std::vector<RankId> RanksThatStandOut(const std::vector<double>& values) {
  std::vector<RankValue> ranks;
  for (const double value : values) {
    ranks.push_back({static_cast<std::int64_t>(ranks.size()), value});
  }
  std::vector<RankId> out;
  for (const RankValue& value : OutliersOf(ranks)) out.push_back(value.rank);
  return out;
}

TEST(MeansOfRanks, HaveOneValueForEachRankInOrder) {
  const std::vector<RankValue> means = MeansOfRanks({{5, 2}, {0, 1}, {5, 6}, {0, 1}, {5, 4}});
  ASSERT_EQ(means.size(), 2U);
  EXPECT_EQ(means[0].rank, 0);
  EXPECT_DOUBLE_EQ(means[0].value, 1);
  EXPECT_EQ(means[1].rank, 5);
  EXPECT_DOUBLE_EQ(means[1].value, 4);
  EXPECT_TRUE(MeansOfRanks({}).empty());
}

TEST(SpreadOf, HasTheExtremesWithTheirRanks) {
  const RankSpread odd = SpreadOf({{0, 5}, {1, 9}, {2, 1}});
  EXPECT_EQ(odd.min.rank, 2);
  EXPECT_EQ(odd.max.rank, 1);
  EXPECT_EQ(odd.median, 5);
  const RankSpread even = SpreadOf({{3, 4}, {4, 8}, {5, 8}, {6, 4}});
  EXPECT_EQ(even.min.rank, 3);
  EXPECT_EQ(even.max.rank, 4);
  EXPECT_EQ(even.median, 6);
}

TEST(OutliersOf, NamesTheFarthestFirst) {
  // The median is 100, the usual distance 1: farther than 5 are the ranks 2 and 6.
  EXPECT_EQ(RanksThatStandOut({99, 100, 94, 101, 100, 101, 120, 99}),
            (std::vector<RankId>{6, 2}));
  EXPECT_TRUE(RanksThatStandOut({99, 100, 95, 101, 100, 101, 105, 99}).empty());
}

TEST(OutliersOf, TakesWideSpreadsForUsual) {
  // The median is 45, the usual distance 20: nothing is farther than 80.
  EXPECT_TRUE(RanksThatStandOut({10, 20, 30, 40, 50, 60, 70, 120}).empty());
}

TEST(OutliersOf, NeedsFourRanks) {
  EXPECT_TRUE(RanksThatStandOut({1, 1, 9}).empty());
  EXPECT_EQ(RanksThatStandOut({1, 1, 1, 9}), std::vector<RankId>{3});
}

TEST(SpreadList, NamesTheRankWithTheMost) {
  const ScreenList list = SpreadList({ScreenText("what", 6)}, ScreenMs("", 10));
  EXPECT_EQ(list.Heading(), "  what          min     median max (rank)");
  EXPECT_EQ(list.LineOf(SpreadCells({"steps"}, {{0, 2e6}, {7, 9e6}, {8, 3e6}})),
            "  steps       2.000      3.000      9.000  (7)");
  EXPECT_EQ(list.LineOf(SpreadCells({"gaps"}, {{-1, 5e5}})),
            "  gaps        0.500      0.500      0.500  (unknown)");
}

TEST(OutlierLines, HaveOneForEachRank) {
  OutlierLines lines;
  const auto text = [](double value) { return std::to_string(static_cast<int>(value)) + " ns"; };
  lines.Add("a", {{0, 10}, {1, 10}, {2, 10}, {3, 11}}, text);
  lines.Add("b", {{0, 10}, {1, 10}, {2, 30}, {3, 5}}, text);
  ScreenLines said;
  lines.AppendTo(said);
  EXPECT_EQ(TextsOf(said),
            (std::vector<std::string>{"stands out: rank 2, b: 30 ns instead of 10 ns (+200.0 %)",
                                      "stands out: rank 3, a: 11 ns instead of 10 ns (+10.0 %)"}));
}

}  // namespace
}  // namespace mpa
