// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "mpa/measure/intervals.h"

namespace mpa {
namespace {

using Wins = std::vector<Won>;

Wins WinsOf(std::vector<Contender> contenders) {
  Wins wins;
  Skyline(std::move(contenders), [&](const Won& won) { wins.push_back(won); });
  return wins;
}

TEST(Skyline, GivesTimeToTheLeastPriority) {
  EXPECT_EQ(WinsOf({{0, 100, 0, 5, 0}, {20, 40, 0, 1, 1}, {30, 50, 0, 3, 2}}),
            (Wins{{0, 20, 0}, {20, 40, 1}, {40, 50, 2}, {50, 100, 0}}));
}

TEST(Skyline, LeavesOutWhatNobodyAsksFor) {
  EXPECT_EQ(WinsOf({{10, 20, 0, 0, 0}, {30, 40, 0, 0, 1}, {35, 35, 0, 0, 2}}),
            (Wins{{10, 20, 0}, {30, 40, 1}}));
  EXPECT_TRUE(WinsOf({}).empty());
}

TEST(Skyline, TiesGoToTheSmallerTieThenIndex) {
  EXPECT_EQ(WinsOf({{0, 10, 7, 1, 0}, {0, 10, 3, 1, 1}, {0, 12, 3, 1, 2}}),
            (Wins{{0, 10, 1}, {10, 12, 2}}));
}

TEST(Skyline, WhoWinsBeforeAndBehindAnotherWinsOneStretchEach) {
  // One that loses does not cut the winner.
  EXPECT_EQ(WinsOf({{0, 10, 0, 1, 0}, {2, 4, 0, 2, 1}, {10, 12, 0, 2, 2}}),
            (Wins{{0, 10, 0}, {10, 12, 2}}));
}

}  // namespace
}  // namespace mpa
