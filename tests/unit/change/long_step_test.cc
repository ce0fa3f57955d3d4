// SPDX-License-Identifier: Apache-2.0
#include "mpa/change/long_step.h"

#include <gtest/gtest.h>

namespace mpa {
namespace {

std::vector<TimeNs> InMs(std::vector<TimeNs> steps) {
  for (TimeNs& step : steps) step *= 1'000'000;
  return steps;
}

TEST(LongStep, OneStepThatTheMedianHidesIsFound) {
  const auto step =
      FindLongStep(InMs({100, 101, 99, 100, 100, 100}), InMs({100, 101, 99, 500, 100, 100}));
  ASSERT_TRUE(step);
  EXPECT_TRUE(step->in_comparison);
  EXPECT_EQ(step->position, 3U);
  EXPECT_EQ(LongStepText(*step, 4, ""), "step 4: +400.0 ms of +400.0; median unchanged");
  EXPECT_EQ(LongStepText(*step, 4, "free time (Python): f"),
            "step 4: +400.0 ms of +400.0; median unchanged (free time (Python): f)");
}

TEST(LongStep, TheBaseMayHaveIt) {
  const auto step = FindLongStep(InMs({100, 100, 300, 100}), InMs({100, 100, 100, 100}));
  ASSERT_TRUE(step);
  EXPECT_EQ(LongStepText(*step, 7, ""),
            "step 7 of the base: -200.0 ms of -200.0; median unchanged");
}

TEST(LongStep, SidesThatDifferAsMuchAndShortRunsHaveNone) {
  EXPECT_FALSE(FindLongStep(InMs({100, 100, 480, 100}), InMs({100, 500, 100, 100})));
  EXPECT_FALSE(FindLongStep(InMs({100, 120, 80, 110}), InMs({100, 130, 70, 115})));
  EXPECT_FALSE(FindLongStep(InMs({100, 100}), InMs({100, 500})));
  // The median says it.
  EXPECT_FALSE(FindLongStep(InMs({100, 100, 130}), InMs({120, 120, 130})));
}

}  // namespace
}  // namespace mpa
