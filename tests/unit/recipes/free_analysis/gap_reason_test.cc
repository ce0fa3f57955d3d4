// SPDX-License-Identifier: Apache-2.0
// Expectations are worked out by hand from the times in each test.
#include <gtest/gtest.h>

#include "recipes/free_analysis/gaps.h"
#include "support/rank_builder.h"

namespace mpa::recipes::free_analysis {
namespace {

// A gap between work whose operators end at 12 us and `op_end`, launched from 20 to 22 us and
// during `call`.
Gap GapBetween(TimeNs op_end, Interval call) {
  Gap gap;
  gap.time = {150'000, 400'000};
  gap.before = {Interval{20'000, 22'000}, 12'000};
  gap.behind = {call, op_end};
  return gap;
}

TEST(GapReason, TheFrameworkDispatchedNothing) {
  // The second call waits 5 us behind its operator, the first 8: 3 us less.
  const GapReason reason = ReasonOf(GapBetween(305'000, {310'000, 330'000}));
  EXPECT_EQ(reason.kind, IdleReason::kFramework);
  EXPECT_EQ(reason.framework_idle, 293'000);
  EXPECT_EQ(reason.runtime_idle, 308'000);
  EXPECT_EQ(reason.text, "Idle Pytorch layer: no task dispatched in 293.0 us");
}

TEST(GapReason, TheRuntimeWasLateBetweenTwoLaunches) {
  // 492 us behind its operator; 788 us lie between the launches.
  const GapReason reason = ReasonOf(GapBetween(318'000, {810'000, 812'000}));
  EXPECT_EQ(reason.kind, IdleReason::kRuntime);
  EXPECT_EQ(reason.text, "Abnormal CANN layer: long time between two node@launch 788.0 us");
}

TEST(GapReason, ALaunchTookLongerThanTheTimeBetweenThem) {
  const GapReason reason = ReasonOf(GapBetween(12'000, {100'000, 300'000}));
  EXPECT_EQ(reason.text, "Abnormal CANN layer: long node@launch 200.0 us");
}

TEST(GapReason, WithoutOperatorsTheCallsTellAlone) {
  Gap gap = GapBetween(0, {310'000, 330'000});
  gap.behind.op_end.reset();
  const GapReason reason = ReasonOf(gap);
  EXPECT_EQ(reason.kind, IdleReason::kHost);
  EXPECT_EQ(reason.framework_idle, std::nullopt);
  EXPECT_EQ(reason.runtime_idle, 308'000);
  EXPECT_EQ(reason.text,
            "Host, no pytorch dispatch time: long time between two node@launch 288.0 us");
}

TEST(GapReason, WithoutACallNothingIsKnown) {
  Gap gap = GapBetween(305'000, {310'000, 330'000});
  gap.before.call.reset();
  EXPECT_EQ(ReasonOf(gap).kind, IdleReason::kUnknown);
}

// Kernels 100-150 and 400-450 us, a copy that begins with the gap, and marks that take no time.
TEST(ReferenceGaps, TasksAtTheEdgesOfAGapAreWithin) {
  test::RankBuilder rank;
  rank.KernelAt(100'000, 150'000);
  rank.KernelAt(400'000, 450'000);
  rank.Task("PCIE_DMA_SQE", 150'000, 170'000, 1, "MEMCPY_ASYNC");
  rank.Task("EVENT_RECORD", 200'000, 200'000, 1);
  rank.Task("EVENT_WAIT_SQE", 390'000, 400'000, 1);
  rank.Task("MEMCPY_ASYNC", 90'000, 95'000, 1);
  const std::vector<Gap> gaps = FindReferenceGaps(rank.trace, 10);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].time, (Interval{150'000, 400'000}));
  EXPECT_EQ(gaps[0].longest_rest, 220'000);
  EXPECT_EQ(ReasonOf(gaps[0]).text,
            "Device task running: 1 MEMCPY_ASYNC tasks, 1 EVENT_WAIT tasks, max remaining free"
            " 220.0 us");
}

// A kernel on another stream that began earlier ends where the gap begins.
TEST(ReferenceGaps, TheWorkThatEndsLastIsBefore) {
  test::RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  const auto launched = [&](std::int64_t link, TimeNs call, TimeNs start, TimeNs end) {
    rank.trace.host_calls.Append({.start = call,
                                  .dur = 2,
                                  .name = rank.Text("Node@launch"),
                                  .track = thread,
                                  .connection = link});
    rank.trace.kernels.Append({.start = start, .dur = end - start, .link = link});
    rank.trace.device_tasks.Append({.start = start, .dur = end - start, .connection = link});
  };
  launched(1, 10, 100, 300);
  launched(2, 20, 150, 200);
  launched(3, 50, 400, 450);
  const std::vector<Gap> gaps = FindReferenceGaps(rank.trace, 10);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].before.call, (Interval{10, 12}));
  EXPECT_EQ(gaps[0].behind.call, (Interval{50, 52}));
}

}  // namespace
}  // namespace mpa::recipes::free_analysis
