// SPDX-License-Identifier: Apache-2.0
// What the steps of both sides show: their value, drift and noise.
#include "gate/levels.h"

#include <gtest/gtest.h>

#include "support/failures.h"

namespace mpa::gate {
namespace {

constexpr std::int64_t kLevelsMs = 1'000'000;

Runs StepsInMs(std::vector<std::vector<std::int64_t>> runs) {
  for (auto& samples : runs) {
    for (std::int64_t& sample : samples) sample *= kLevelsMs;
  }
  return runs;
}

TEST(GateLevels, DriftOfBothSidesIsTakenOffInTheMiddleOfTheRun) {
  const Levels levels =
      LevelsOf(StepsInMs({{100, 101, 102, 103, 104}}), StepsInMs({{105, 106, 107, 108, 109}}));
  EXPECT_EQ(levels.base, 102 * kLevelsMs);
  EXPECT_EQ(levels.comparison, 107 * kLevelsMs);
  ASSERT_TRUE(levels.drift);
  EXPECT_FALSE(levels.drift->differs);
  EXPECT_DOUBLE_EQ(levels.drift->base, 100.0 / 102);  // 1 ms per step
  EXPECT_DOUBLE_EQ(levels.drift->comparison, 100.0 / 107);
  EXPECT_EQ(levels.noise, 0);  // lines alone
}

TEST(GateLevels, DriftOfOneSideIsToldAndStaysInTheValues) {
  const Levels levels =
      LevelsOf(StepsInMs({{100, 100, 100, 100, 100}}), StepsInMs({{100, 102, 104, 106, 108}}));
  EXPECT_EQ(levels.base, 100 * kLevelsMs);
  EXPECT_EQ(levels.comparison, 104 * kLevelsMs);  // the middle step, as ever
  ASSERT_TRUE(levels.drift);
  EXPECT_TRUE(levels.drift->differs);
  EXPECT_DOUBLE_EQ(levels.drift->base, 0);
  EXPECT_DOUBLE_EQ(levels.drift->comparison, 200.0 / 104);
  EXPECT_DOUBLE_EQ(levels.drift->change_at_end, 8);
  EXPECT_HAS_TEXT(DriftText(*levels.drift),
                  "differs and is not subtracted: +0.00 % per step in the base, +1.92 %");
  EXPECT_HAS_TEXT(DriftText(*levels.drift), "in the last step the change is +8.0 %");
}

TEST(GateLevels, AFallOfTheBaseAloneHidesNoGrowth) {
  // The line through the base lies at 102 in the middle; its median is 100.
  const Levels levels =
      LevelsOf(StepsInMs({{108, 104, 100, 100, 100}}), StepsInMs({{103, 103, 103, 103, 103}}));
  EXPECT_EQ(levels.base, 100 * kLevelsMs);
  EXPECT_EQ(levels.comparison, 103 * kLevelsMs);
  EXPECT_TRUE(levels.drift->differs);
}

TEST(GateLevels, SlowFirstStepsAreNoDrift) {
  const Runs runs = StepsInMs({{200, 150, 100, 100, 102}});
  const Levels levels = LevelsOf(runs, runs);
  EXPECT_FALSE(levels.drift);
  EXPECT_EQ(levels.base, 102 * kLevelsMs);
}

TEST(GateLevels, SteepRunsThatDifferALittleAreNoDrift) {
  // The base falls to 0: no part of that is a change in the last step.
  const Levels levels =
      LevelsOf(StepsInMs({{200, 150, 100, 50, 0}}), StepsInMs({{210, 158, 106, 54, 2}}));
  EXPECT_FALSE(levels.drift);
  EXPECT_EQ(levels.base, 100 * kLevelsMs);
}

TEST(GateLevels, SidesOfDifferentLengthsAreComparedInTheStepsThatBothHave) {
  // One line: nothing changed, although the longer run is slower by its end.
  const Levels levels = LevelsOf(StepsInMs({{100, 101, 102, 103, 104}}),
                                 StepsInMs({{100, 101, 102, 103, 104, 105, 106, 107, 108}}));
  EXPECT_EQ(levels.base, 102 * kLevelsMs);
  EXPECT_EQ(levels.comparison, 102 * kLevelsMs);
}

TEST(GateLevels, NoiseIsNoDrift) {
  // The slopes between pairs are -3 -3 0.67 -0.25 5 1 0.33 -1 -0.5 0: their median, -0.125, is far
  // below what steps that spread by 2 ms make a line appear to have.
  const Levels levels =
      LevelsOf(StepsInMs({{101, 98, 102, 99, 100}}), StepsInMs({{100, 103, 98, 101, 99}}));
  EXPECT_FALSE(levels.drift);
  EXPECT_EQ(levels.base, 100 * kLevelsMs);
  EXPECT_EQ(levels.comparison, 100 * kLevelsMs);
}

TEST(GateLevels, ThreeStepsShowNoDrift) {
  EXPECT_FALSE(LevelsOf(StepsInMs({{100, 105, 110}}), StepsInMs({{100, 105, 110}})).drift);
  EXPECT_TRUE(LevelsOf(StepsInMs({{100, 105, 110, 115}}), StepsInMs({{100, 105, 110, 115}})).drift);
}

TEST(GateLevels, DriftThatIsTooSmallToMatterIsNotTakenOff) {
  // 8 and 12 parts of 1000 over the run.
  EXPECT_FALSE(LevelsOf({{1000, 1002, 1004, 1006, 1008}}, {{1000, 1002, 1004, 1006, 1008}}).drift);
  EXPECT_TRUE(LevelsOf({{1000, 1003, 1006, 1009, 1012}}, {{1000, 1003, 1006, 1009, 1012}}).drift);
}

TEST(GateLevels, NoiseFallsWithTheFourthRootOfTheSteps) {
  // Distances of 1 ms from the median in 4 of 5 steps: a spread of sqrt(4 / (5 - 1)) = 1 ms, and
  // sqrt(2 / sqrt(5)) of it for the change. No line fits better.
  const Levels levels =
      LevelsOf(StepsInMs({{101, 99, 100, 99, 101}}), StepsInMs({{101, 99, 100, 99, 101}}));
  EXPECT_NEAR(levels.noise, 0.945742e6, 1);
}

TEST(GateLevels, DriftThatIsNotClearIsNoNoise) {
  // In 0.1 ms the slopes between pairs are 19 6 10.33 6.25 -7 6 2 19 6.5 -6, their median is 6.125.
  // Without it the steps are -0.5 12.375 -0.75 12.125 and 0 from their median, which is 300.97 in
  // squares, over 5 - 1 - 0.5 freedoms. The slope is 2.95 of its standard errors.
  const Runs runs = {{100'000, 101'900, 101'200, 103'100, 102'500}};
  const Levels levels = LevelsOf(runs, runs);
  EXPECT_FALSE(levels.drift);
  EXPECT_EQ(levels.base, 101'900);
  EXPECT_NEAR(levels.noise, 877.0, 0.5);  // 100 sqrt(2 * 300.97 / 3.5 / sqrt(5))
}

TEST(GateLevels, StepsOfTwoKindsAreNoise) {
  // Two of five are no exception: 200 in squares, over 4 freedoms.
  const Runs runs = StepsInMs({{100, 110, 100, 110, 100}});
  EXPECT_NEAR(LevelsOf(runs, runs).noise, 6.687403e6, 1);  // sqrt(2 * 50 / sqrt(5))
}

TEST(GateLevels, WhatIsUsualOnTheOtherSideIsNotFarAway) {
  // 4 / 4 and 58 / 4 in squares, the sum over sqrt(5).
  const Levels levels =
      LevelsOf(StepsInMs({{100, 100, 100, 100, 102}}), StepsInMs({{102, 95, 100, 105, 98}}));
  EXPECT_NEAR(levels.noise, 2.632833e6, 1);  // sqrt(15.5 / 2.236068)
}

TEST(GateLevels, OneStepFarAwayIsNoNoise) {
  const Levels calm =
      LevelsOf(StepsInMs({{101, 99, 100, 99, 101, 100}}), StepsInMs({{100, 100, 100, 100}}));
  const Levels hit =
      LevelsOf(StepsInMs({{101, 99, 300, 99, 101, 100}}), StepsInMs({{100, 100, 100, 100}}));
  EXPECT_EQ(hit.base, 100 * kLevelsMs + kLevelsMs / 2);
  EXPECT_LT(hit.noise, 2 * calm.noise);
}

TEST(GateLevels, LongRunsTakeNoLongerThanTheyMust) {
  // All pairs of 200 000 steps would take minutes and gigabytes.
  std::vector<std::int64_t> steps(200'000);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i] = 100 * kLevelsMs + 10 * static_cast<std::int64_t>(i);
  }
  const Levels levels = LevelsOf({steps}, {steps});
  ASSERT_TRUE(levels.drift);
  EXPECT_NEAR(levels.drift->base, 1000 / 101e6, 1e-9);
}

}  // namespace
}  // namespace mpa::gate
