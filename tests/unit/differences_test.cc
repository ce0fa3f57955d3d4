// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mpa/report/report.h"

namespace mpa {
namespace {

TEST(DiffRatio, DividesAndRoundsToFourDecimals) {
  EXPECT_EQ(DiffRatio(3, 2), 0.6667);
  EXPECT_EQ(DiffRatio(4, 4), 1.0);
  EXPECT_EQ(DiffRatio(8, 0), 0.0);
}

TEST(DiffRatio, CallsTwoZerosEqual) { EXPECT_EQ(DiffRatio(0, 0), 1.0); }

TEST(DiffRatio, IsInfiniteWhereNothingIsComparedWithSomething) {
  EXPECT_EQ(DiffRatio(0, 5), std::numeric_limits<double>::infinity());
}

TEST(DiffRounded, RoundsTheExactBinaryValue) {
  EXPECT_EQ(DiffRounded(0, 0.125), 0.12);  // a true tie goes to the even digit
  EXPECT_EQ(DiffRounded(0, 0.375), 0.38);
  EXPECT_EQ(DiffRounded(0, 2.675), 2.67);  // the double lies below 2.675
  EXPECT_EQ(DiffRounded(0, 1.005), 1.0);
  EXPECT_EQ(DiffRounded(1.5, 1.0), -0.5);
}

TEST(DiffRounded, KnowsNoNegativeZero) {
  EXPECT_EQ(DiffRounded(1, 0.999), 0.0);
  EXPECT_FALSE(std::signbit(DiffRounded(1, 0.999)));
  EXPECT_FALSE(std::signbit(DiffRounded(0.0, -0.0)));
}

TEST(DiffRounded, KeepsWhatCannotBeRounded) {
  EXPECT_EQ(DiffRounded(0, std::numeric_limits<double>::infinity()),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(DiffRounded(0, 1e300), 1e300);
}

}  // namespace
}  // namespace mpa
