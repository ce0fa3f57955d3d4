// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/measure/accounting.h"

namespace mpa {
namespace {

using Times = std::vector<TimeNs>;

TEST(WarmUp, IsAFirstStepThatTakesMuchLongerThanTheOthers) {
  EXPECT_TRUE(FirstStepIsWarmUp({121, 100, 100}, {0, 0, 0}, 1));
  EXPECT_FALSE(FirstStepIsWarmUp({120, 100, 100}, {0, 0, 0}, 1));
  EXPECT_FALSE(FirstStepIsWarmUp({100, 100, 200}, {0, 0, 0}, 1)) << "the last is no warm-up";
  EXPECT_FALSE(FirstStepIsWarmUp({500, 100}, {0, 0}, 1)) << "two steps show nothing";
  EXPECT_FALSE(FirstStepIsWarmUp({}, {}, 1));
}

// 3 % of a first step of 1000 on both ranks are 60.
TEST(WarmUp, IsAFirstStepThatCompilesWhatTheOthersDoNot) {
  EXPECT_TRUE(FirstStepIsWarmUp({1000, 1000, 1000}, {60, 6, 6}, 2));
  EXPECT_FALSE(FirstStepIsWarmUp({1000, 1000, 1000}, {59, 0, 0}, 2));
  EXPECT_FALSE(FirstStepIsWarmUp({1000, 1000, 1000}, {60, 7, 7}, 2)) << "all steps compile";
}

}  // namespace
}  // namespace mpa
