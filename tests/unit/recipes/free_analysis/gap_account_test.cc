// SPDX-License-Identifier: Apache-2.0
// Expectations are worked out by hand from the times in each test.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "recipes/free_analysis/gaps.h"
#include "support/rank_builder.h"

namespace mpa::recipes::free_analysis {
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
            "free.sync.scalar 35.0 us, copy.h2d 5.0 us, free.dispatch.cann 5.0 us,"
            " free.python 5.0 us");
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

// Between the copy and the kernel 25-70, and behind the last kernel 90-100. The reference sees one
// gap, 20-70.
TEST_F(GapAccounts, CopiesAndEndsOfStepsBoundGaps) {
  const StepAccounts accounts(rank_.trace);
  const std::vector<Gap> gaps = FindGaps(rank_.trace, accounts.Account(), 10);
  ASSERT_EQ(gaps.size(), 2u);
  EXPECT_EQ(gaps[0].time, (Interval{25'000, 70'000}));
  EXPECT_EQ(gaps[0].step, 7);
  EXPECT_EQ(gaps[0].from, Edge::kCopy);
  EXPECT_EQ(gaps[0].to, Edge::kKernel);
  EXPECT_EQ(gaps[1].time, (Interval{90'000, 100'000}));
  EXPECT_EQ(gaps[1].from, Edge::kKernel);
  EXPECT_EQ(gaps[1].to, Edge::kStep);
  EXPECT_EQ(ReasonOf(gaps[1]).kind, IdleReason::kEdge);
  EXPECT_EQ(accounts.Categories().SumOf(IsFree), 45'000 + 10'000);
}

TEST_F(GapAccounts, TheLongestComeFirst) {
  const StepAccounts accounts(rank_.trace);
  const std::vector<Gap> gaps = FindGaps(rank_.trace, accounts.Account(), 1);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].time, (Interval{25'000, 70'000}));
}

// Kernels are launched at 2, 500 and 600 us by calls of 1 us. The second and third begin 4 us
// behind their launch; the first at `first`.
class FirstWork : public ::testing::Test {
 protected:
  std::vector<Gap> GapsIfTheFirstBeginsAt(TimeNs first) {
    test::RankBuilder rank;
    const std::int32_t thread = rank.Thread(1);
    rank.Step(7, 0, 700'000);
    rank.Op("ProfilerStep#7", 0, 700'000, thread);
    std::int64_t link = 0;
    for (const auto& [call, begin] :
         {std::pair{TimeNs{2'000}, first}, {500'000, 505'000}, {600'000, 605'000}}) {
      rank.trace.host_calls.Append({.start = call,
                                    .dur = 1'000,
                                    .name = rank.Text("Node@launch"),
                                    .track = thread,
                                    .connection = ++link});
      rank.KernelAt(begin, begin + 10'000);
      rank.Task("KERNEL_AIVEC", begin, begin + 10'000, 2);
      rank.trace.device_tasks.connection.back() = link;
    }
    return FindGaps(rank.trace, StepAccounts(rank.trace).Account(), 1);
  }
};

// 400 us behind its launch: something that was not recorded may have run until then. It does not
// take the place of a time that is known to be idle: 617-700 and 515-605 are shorter than 413-505.
TEST_F(FirstWork, ThatWaitedLongDoesNotTellThatTheDeviceWasIdle) {
  const std::vector<Gap> gaps = GapsIfTheFirstBeginsAt(403'000);
  ASSERT_EQ(gaps.size(), 2u);
  EXPECT_EQ(gaps[0].time, (Interval{0, 403'000}));
  EXPECT_EQ(ReasonOf(gaps[0]).kind, IdleReason::kMaybeBusy);
  EXPECT_EQ(gaps[1].time, (Interval{413'000, 505'000}));
  EXPECT_FALSE(gaps[1].maybe_busy);
}

TEST_F(FirstWork, ThatBeginsWithItsLaunchTellsThatTheDeviceWasIdle) {
  const std::vector<Gap> gaps = GapsIfTheFirstBeginsAt(8'000);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].time, (Interval{18'000, 505'000}));
}

}  // namespace
}  // namespace mpa::recipes::free_analysis
