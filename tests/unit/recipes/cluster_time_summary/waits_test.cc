// SPDX-License-Identifier: Apache-2.0
// Expectations are worked out by hand from the durations in each test.
#include "recipes/cluster_time_summary/waits.h"

#include <gtest/gtest.h>

#include "recipes/cluster_time_summary/compare_runs.h"
#include "support/rank_builder.h"

namespace mpa::time_summary {
namespace {

TimesOfRank WithRuns(std::vector<RankRuns::Row> runs) {
  TimesOfRank part;
  part.runs = {{"group", "allReduce", "send"}, std::move(runs)};
  return part;
}

RankRuns::Row AllReduce(TimeNs dur, std::int32_t step = 1, std::int32_t ranks = 0) {
  return {.group = 0, .name = 1, .dur = dur, .step = step, .group_ranks = ranks};
}

TEST(Waits, OfEqualNamesTheNthBelongTogether) {
  const TimesOfRank first = WithRuns({AllReduce(10), AllReduce(30)});
  const TimesOfRank second = WithRuns({AllReduce(25), AllReduce(5)});
  const auto waits = FindWaits({{0, first}, {1, second}});
  EXPECT_EQ(waits[0].at(1).wait, 25);  // 0 + 30 - 5
  EXPECT_EQ(waits[0].at(1).transmit, 15);
  EXPECT_EQ(waits[1].at(1).wait, 15);  // 25 - 10 + 0
  EXPECT_EQ(waits[1].at(1).transmit, 15);
}

TEST(Waits, StepsAreApart) {
  const TimesOfRank first = WithRuns({AllReduce(10, 1), AllReduce(30, 2)});
  const TimesOfRank second = WithRuns({AllReduce(20, 2)});
  const auto waits = FindWaits({{0, first}, {1, second}});
  EXPECT_EQ(waits[0].at(1).left_out, 1u);  // rank 1 has no run in step 1
  EXPECT_EQ(waits[0].at(2).wait, 10);
}

TEST(Waits, ACollectiveWithoutAllRanksOfItsGroupIsLeftOut) {
  const TimesOfRank first = WithRuns({AllReduce(10, 1, 3)}),
                    second = WithRuns({AllReduce(7, 1, 3)});
  const Ranks ranks = {{0, first}, {1, second}};
  EXPECT_EQ(FindWaits(ranks)[0].at(1).counted, 0u);
  EXPECT_EQ(FindWaits(ranks)[0].at(1).left_out, 1u);
}

TEST(Waits, OfANameThatRanksRanDifferentlyOftenInAStepNoPairIsKnown) {
  const TimesOfRank first = WithRuns({AllReduce(10, 1), AllReduce(30, 1), AllReduce(9, 2)});
  const TimesOfRank second = WithRuns({AllReduce(25, 1), AllReduce(5, 2)});
  const auto waits = FindWaits({{0, first}, {1, second}});
  EXPECT_EQ(waits[0].at(1).left_out, 2u);
  EXPECT_EQ(waits[0].at(1).wait, 0);
  EXPECT_EQ(waits[1].at(1).left_out, 1u);
  EXPECT_EQ(waits[0].at(2).wait, 4);
}

TEST(Waits, AnOperatorBetweenTwoRanksIsRecordedOnOne) {
  const RankRuns::Row send{
      .group = 0, .name = 2, .dur = 8, .step = 1, .group_ranks = 2, .p2p = true};
  const TimesOfRank part = WithRuns({send});
  EXPECT_EQ(FindWaits({{0, part}})[0].at(1).transmit, 8);
}

TEST(TimeSummary, CopiesWithinCopiesCountOnce) {
  test::RankBuilder rank;
  rank.KernelAt(200, 300);
  rank.Task("MEMCPY_ASYNC", 0, 100, 1, "MEMCPY_ASYNC");
  rank.Task("MEMCPY_ASYNC", 10, 50, 2, "MEMCPY_ASYNC");
  rank.Task("MEMCPY_ASYNC", 290, 310, 1, "MEMCPY_ASYNC");
  const TimesOfRank part = MapTimes(rank.trace, {});
  ASSERT_EQ(part.steps.size(), 1u);
  EXPECT_EQ(part.steps[0].step, -1);
  EXPECT_EQ(part.steps[0].copies, 160);
  EXPECT_EQ(part.steps[0].exposed_copies, 110);  // 0-100 and 300-310
  EXPECT_EQ(part.steps[0].computing, 100);
  EXPECT_EQ(part.steps[0].free, 210);  // the span 0-310 without the kernel
}

TEST(TimeSummary, StepsOfOneRunOnlyAreListed) {
  std::vector<StepRow> now(2), base(2);
  now[0].step = 1;
  now[1].step = base[0].step = 2;
  base[1].step = 3;
  std::vector<std::string> notes;
  const auto pairs = PairSteps(now, base, notes);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].base, nullptr);
  EXPECT_EQ(pairs[1].base, &base[0]);
  EXPECT_EQ(pairs[2].comparison, nullptr);
  EXPECT_EQ(notes.size(), 1u);
}

}  // namespace
}  // namespace mpa::time_summary
