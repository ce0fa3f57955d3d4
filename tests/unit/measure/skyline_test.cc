// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "mpa/measure/intervals.h"

namespace mpa {
namespace {

using Wins = std::vector<Won>;

Wins WinsOf(std::vector<Contender> contenders, Tie tie = Tie::kLeastIndex) {
  Wins wins;
  Skyline(std::move(contenders), tie, [&](const Won& won) { wins.push_back(won); });
  return wins;
}

TEST(Skyline, GivesTimeToTheLeastPriority) {
  EXPECT_EQ(WinsOf({{0, 100, 5, 0}, {20, 40, 1, 1}, {30, 50, 3, 2}}),
            (Wins{{0, 20, 5, 0}, {20, 40, 1, 1}, {40, 50, 3, 2}, {50, 100, 5, 0}}));
}

TEST(Skyline, LeavesOutWhatNobodyAsksFor) {
  EXPECT_EQ(WinsOf({{10, 20, 0, 0}, {30, 40, 0, 1}, {35, 35, 0, 2}}),
            (Wins{{10, 20, 0, 0}, {30, 40, 0, 1}}));
  EXPECT_TRUE(WinsOf({}).empty());
}

TEST(Skyline, TiesGoToTheLeastIndex) {
  EXPECT_EQ(WinsOf({{5, 12, 1, 1}, {0, 10, 1, 2}}), (Wins{{0, 5, 1, 2}, {5, 12, 1, 1}}));
}

TEST(Skyline, OrTheyGoToWhoBeginsLastThenToTheLeastIndex) {
  EXPECT_EQ(WinsOf({{0, 10, 1, 0}, {3, 10, 1, 1}, {3, 12, 1, 2}}, Tie::kLatest),
            (Wins{{0, 3, 1, 0}, {3, 10, 1, 1}, {10, 12, 1, 2}}));
}

TEST(Skyline, WhoWinsBeforeAndBehindAnotherWinsOneStretchEach) {
  // One that loses does not cut the winner.
  EXPECT_EQ(WinsOf({{0, 10, 1, 0}, {2, 4, 2, 1}, {10, 12, 2, 2}}),
            (Wins{{0, 10, 1, 0}, {10, 12, 2, 2}}));
}

TEST(Skyline, KeepsApartWhatOneIndexWinsByTwoPriorities) {
  EXPECT_EQ(WinsOf({{0, 10, 1, 0}, {0, 20, 2, 0}}), (Wins{{0, 10, 1, 0}, {10, 20, 2, 0}}));
}

}  // namespace
}  // namespace mpa
