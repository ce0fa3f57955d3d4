// SPDX-License-Identifier: Apache-2.0
// The one rule by which every command rounds medians and percentiles.
#include "mpa/measure/quantiles.h"

#include <gtest/gtest.h>

#include <limits>

namespace mpa {
namespace {

using Values = std::vector<std::int64_t>;

TEST(Quantiles, AMedianBetweenTwoValuesIsRoundedUpFromTheHalf) {
  EXPECT_EQ(Median(Values{5, 2}), 4);     // 3.5
  EXPECT_EQ(Median(Values{-2, -5}), -3);  // -3.5: as 3.5 less 7
  EXPECT_EQ(Median(Values{9, 1, 4}), 4);
  EXPECT_EQ(Median(Values{}), 0);
}

TEST(Quantiles, MediansArePercentiles) {
  for (const Values& sorted : {Values{1, 2}, Values{-4, -3}, Values{0, 1, 4, 9}, Values{7}}) {
    EXPECT_EQ(Percentile(sorted, 50), Median(sorted)) << sorted[0];
  }
}

TEST(Quantiles, PercentilesLieOnTheLineBetweenTwoValues) {
  const Values sorted{0, 10, 20, 33};  // 90: place 2.7, 20 + 0.7 * 13 = 29.1
  EXPECT_EQ(Percentile(sorted, 0), 0);
  EXPECT_EQ(Percentile(sorted, 90), 29);
  EXPECT_EQ(Percentile(sorted, 100), 33);
  EXPECT_EQ(Percentile(Values{0, 5}, 90), 5);  // 4.5
  EXPECT_EQ(Percentile(Values{}, 90), 0);
}

// Times of today are 61 bits long; a double keeps 53.
TEST(Quantiles, AreExactFarAwayFromZero) {
  constexpr std::int64_t kNow = 1'750'000'000'000'000'000;
  EXPECT_EQ(Median(Values{kNow + 1, kNow + 3}), kNow + 2);
  EXPECT_EQ(Percentile(Values{kNow, kNow + 10}, 90), kNow + 9);
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(Median(Values{kMax, kMin}), 0);  // -0.5
  EXPECT_EQ(Percentile(Values{kMin, kMax}, 100), kMax);
}

TEST(Quantiles, OfRealNumbersAreNotRounded) {
  EXPECT_EQ(Median(std::vector<double>{0.25, 0.5}), 0.375);
  EXPECT_EQ(Median(std::vector<double>{}), 0);
}

TEST(Quantiles, TheNearestRankIsThatOfAValue) {
  EXPECT_EQ(PercentileIndex(1, 95), 0u);
  EXPECT_EQ(PercentileIndex(20, 95), 18u);  // 19 of 20 do not exceed it
  EXPECT_EQ(PercentileIndex(21, 95), 19u);
  EXPECT_EQ(PercentileIndex(4, 50), 1u);
}

TEST(Quantiles, TheNearestRankFromAboveIsThatFromBelowTurnedAround) {
  EXPECT_EQ(PercentileIndexAbove(4, 50), 2u);
  EXPECT_EQ(PercentileIndexAbove(4, 75), 3u);  // one of four reaches it
  EXPECT_EQ(PercentileIndexAbove(1, 99), 0u);
  for (const std::size_t count : {1u, 2u, 7u, 40u, 101u}) {
    for (const int percent : {1, 10, 25, 75, 99}) {
      EXPECT_EQ(PercentileIndexAbove(count, percent), count - 1 - PercentileIndex(count, 100 - percent));
    }
  }
}

TEST(Quantiles, TheValueOfARankIsThatOfAscendingOrder) {
  std::vector<int> values{5, 1, 4, 2};
  EXPECT_EQ(ValueAtPosition(values, 0), 1);
  EXPECT_EQ(ValueAtPosition(values, 2), 4);
  EXPECT_EQ(ValueAtPosition(values, 3), 5);
}

}  // namespace
}  // namespace mpa
