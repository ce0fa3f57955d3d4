// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mpa/report/report.h"

namespace mpa {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(GrowthRatio, DividesWithoutRounding) {
  EXPECT_EQ(GrowthRatio(3, 2), 2.0 / 3.0);
  EXPECT_EQ(GrowthRatio(4, 4), 1.0);
  EXPECT_EQ(GrowthRatio(8, 0), 0.0);
}

TEST(GrowthRatio, CallsTwoZerosEqual) { EXPECT_EQ(GrowthRatio(0, 0), 1.0); }

TEST(GrowthRatio, IsInfiniteWhereNothingIsComparedWithSomething) { EXPECT_EQ(GrowthRatio(0, 5), kInfinity); }

TEST(Rounded, RoundsHalvesAwayFromZeroAlsoWhereTheirDoublesLieBelow) {
  EXPECT_EQ(Rounded(2155 / 1e3, 2), 2.16);
  EXPECT_EQ(Rounded(2.675, 2), 2.68);
  EXPECT_EQ(Rounded(1.005, 2), 1.01);
  EXPECT_EQ(Rounded(0.125, 2), 0.13);
  EXPECT_EQ(Rounded(-0.125, 2), -0.13);
  EXPECT_EQ(Rounded(-2.155, 2), -2.16);
  EXPECT_EQ(Rounded(123456789012.345, 2), 123456789012.35);
}

TEST(Rounded, KeepsWhatLiesANanosecondBelowAHalf) {
  EXPECT_EQ(Rounded(2'154'999 / 1e6, 2), 2.15);
  EXPECT_EQ(Rounded(987'654'321'764'999 / 1e6, 2), 987654321.76);
}

TEST(Rounded, GivesTheDoubleNextToTheDecimal) {
  EXPECT_EQ(Rounded(0.1 + 0.2, 4), 0.3);
  EXPECT_EQ(Rounded(1.53016, 4), 1.5302);
  EXPECT_EQ(Rounded(7, 2), 7.0);
}

TEST(Rounded, KnowsNoNegativeZero) {
  EXPECT_EQ(Rounded(-0.001, 2), 0.0);
  EXPECT_FALSE(std::signbit(Rounded(-0.001, 2)));
  EXPECT_FALSE(std::signbit(Rounded(-0.0, 2)));
}

TEST(Rounded, KeepsWhatCannotBeRounded) {
  EXPECT_EQ(Rounded(kInfinity, 2), kInfinity);
  EXPECT_EQ(Rounded(1e300, 2), 1e300);
  EXPECT_TRUE(std::isnan(Rounded(std::nan(""), 2)));
}

TEST(Fixed, ShowsAllDecimals) {
  EXPECT_EQ(Fixed(2.155, 2), "2.16");
  EXPECT_EQ(Fixed(3, 3), "3.000");
  EXPECT_EQ(Fixed(-0.001, 2), "0.00");
  EXPECT_EQ(Fixed(-1.5, 0), "-2");
}

TEST(NoNumber, HasAWordForPeople) {
  EXPECT_EQ(TextOf(NoNumber::kNotCounted), "/");
  EXPECT_EQ(TextOf(NoNumber::kUnknown), "N/A");
}

}  // namespace
}  // namespace mpa
