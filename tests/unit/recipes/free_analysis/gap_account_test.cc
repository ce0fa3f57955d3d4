// SPDX-License-Identifier: Apache-2.0
// Expectations are worked out by hand from the times in each test.
#include <gtest/gtest.h>

#include "recipes/free_analysis/gaps.h"
#include "support/rank_builder.h"

namespace mpa::free_analysis {
namespace {

// A step of 100 us without work from 20 to 70: a copy until 25, and a scalar read that blocks the
// only thread of the host from 10 to 60.
class GapAccounts : public ::testing::Test {
 protected:
  GapAccounts() {
    const std::int32_t thread = rank_.Thread(1);
    rank_.Step(7, 0, 100'000);
    rank_.Op("ProfilerStep#7", 0, 100'000, thread);
    rank_.Call("/home/me/train.py(90): step", 0, 100'000, thread);
    rank_.Op("aten::item", 10'000, 60'000, thread);
    rank_.trace.host_calls.Append({.start = 11'000,
                                   .dur = 48'000,
                                   .name = rank_.Text("AscendCL@aclrtSynchronizeStream"),
                                   .track = thread});
    rank_.trace.host_calls.Append({.start = 65'000,
                                   .dur = 5'000,
                                   .name = rank_.Text("Node@launch"),
                                   .track = thread,
                                   .connection = 5});
    rank_.KernelAt(0, 20'000);
    rank_.Task("MEMCPY_ASYNC", 20'000, 25'000, 1, "MEMCPY_ASYNC");
    rank_.KernelAt(70'000, 90'000);
    rank_.Task("KERNEL_AIVEC", 70'000, 90'000, 2);
    rank_.trace.device_tasks.connection.back() = 5;
  }

  test::RankBuilder rank_;
};

TEST_F(GapAccounts, TheCategoriesAddUpToTheGap) {
  const GapAccount account = StepAccounts(rank_.trace).Of({20'000, 70'000});
  // 25-60 the scalar read; 60-65 only Python; 65-70 the launch. Of equal ones the category that
  // comes first.
  EXPECT_EQ(account.causes,
            "free.sync.scalar 35.0 us, copy.h2d 5.0 us, free.dispatch.cann 5.0 us, "
            "free.python 5.0 us");
  EXPECT_EQ(account.place, "aten::item at train.py:90");
}

TEST_F(GapAccounts, APartOfAPieceCountsAsThatPart) {
  const GapAccount account = StepAccounts(rank_.trace).Of({30'000, 31'500});
  EXPECT_EQ(account.causes, "free.sync.scalar 1.5 us");
}

// Nothing but the step is recorded around the scalar read, of which 5 of 40 us are in the gap,
// then 3.
TEST_F(GapAccounts, WhatTookLittleOfTheGapIsNoPlace) {
  rank_.trace.python_calls.dur[0] = 1;
  rank_.trace.host_calls.dur[0] = 10'000;
  rank_.trace.host_ops.dur[1] = 20'000;
  EXPECT_EQ(StepAccounts(rank_.trace).Of({25'000, 65'000}).place, "aten::item");
  rank_.trace.host_ops.dur[1] = 18'000;
  EXPECT_EQ(StepAccounts(rank_.trace).Of({25'000, 65'000}).place, "");
}

TEST_F(GapAccounts, TheCategoriesOfTheRankAreThoseOfItsSteps) {
  const CategoryTimes categories = StepAccounts(rank_.trace).Categories();
  EXPECT_EQ(categories.Sum(), 100'000);
  EXPECT_EQ(categories.SumOf(IsCompute), 40'000);
  EXPECT_EQ(categories.SumOf(IsFree), 55'000);
}

}  // namespace
}  // namespace mpa::free_analysis
