// SPDX-License-Identifier: Apache-2.0
#include "recipes/slow_rank/stragglers.h"

#include <gtest/gtest.h>

namespace mpa::recipes::slow_rank {
namespace {

using Found = std::vector<std::size_t>;

std::vector<TimeNs> Us(std::vector<TimeNs> durations) {
  for (TimeNs& dur : durations) dur *= 1000;
  return durations;
}

TEST(Stragglers, OfSevenAreHeldAgainstTheWholeRange) {
  // (20 - 10) / (24.7 - 10) is 0.6803, the limit 0.680; with 24.8 it is 0.6757.
  EXPECT_EQ(StragglersOf({24700, 20000, 22000, 21000, 10000, 23000, 24000}), Found{4});
  EXPECT_EQ(StragglersOf({24800, 20000, 22000, 21000, 10000, 23000, 24000}), Found{});
}

TEST(Stragglers, OfEightLeaveTheLongestOut) {
  // (100 - 10) / (105 - 10) is 0.947, the limit 0.723; 1000 us do not hide it.
  EXPECT_EQ(StragglersOf(Us({100, 101, 102, 103, 104, 105, 1000, 10})), Found{7});
  EXPECT_EQ(StragglersOf(Us({100, 101, 102, 103, 104, 150, 1000, 60})), Found{});
}

TEST(Stragglers, OfElevenAndFourteenLeaveMoreOut) {
  // Two late ranks: (50 - 10) / (54 - 10) is 0.909; the first of the two is named.
  EXPECT_EQ(StragglersOf(Us({50, 51, 10, 52, 53, 54, 50, 51, 900, 11, 52})), Found{2});
  // Of fourteen two long ones are left out, too: (50 - 10) / (56 - 10) is 0.870.
  EXPECT_EQ(StragglersOf(Us({50, 51, 52, 53, 54, 55, 56, 10, 900, 800, 50, 51, 52, 11})), Found{7});
}

TEST(Stragglers, OfFewRanksAreTwiceAsFastAndByMuch) {
  EXPECT_EQ(StragglersOf(Us({500, 200})), Found{1});
  EXPECT_EQ(StragglersOf(Us({300, 200})), Found{});  // not twice as long
  EXPECT_EQ(StragglersOf(Us({100, 10})), Found{});   // by 90 us
  EXPECT_EQ(StragglersOf(Us({500, 20, 500})), Found{1});
  EXPECT_EQ(StragglersOf(Us({500, 20, 20})), Found{});  // two are
  EXPECT_EQ(StragglersOf(Us({500, 20, 500, 500})), Found{1});
}

TEST(Stragglers, OfNobodyAreNone) {
  EXPECT_EQ(StragglersOf({}), Found{});
  EXPECT_EQ(StragglersOf({5}), Found{});
  EXPECT_EQ(StragglersOf({5, 5, 5, 5}), Found{});
}

TEST(Stragglers, OfMoreThanAHundredAreThreeDeviationsAway) {
  std::vector<TimeNs> durations(120, 1000);
  for (std::size_t i = 0; i < durations.size(); i += 2) durations[i] = 1010;
  durations[17] = 900;
  durations[30] = 901;
  EXPECT_EQ(StragglersOf(durations), (Found{17, 30}));
  // One that waits for very long names the last.
  durations[17] = durations[30] = 1000;
  durations[31] = 999;
  durations[40] = 5000;
  EXPECT_EQ(StragglersOf(durations), Found{31});
}

}  // namespace
}  // namespace mpa::recipes::slow_rank
