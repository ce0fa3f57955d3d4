// SPDX-License-Identifier: Apache-2.0
// Expectations are worked out by hand from the times in each test.
#include "recipes/cluster_time_summary/rows.h"

#include <gtest/gtest.h>

#include <string>

#include "support/rank_builder.h"

namespace mpa::time_summary {
namespace {

// A step of 1 ms. The device works from 100 us on: a kernel until 200, an all-reduce until 500 of
// which the first 50 us run beside the kernel, a copy until 560.
class TimeSummary : public ::testing::Test {
 protected:
  TimeSummary() {
    rank_.Step(7, 0, 1'000'000);
    rank_.KernelAt(100'000, 200'000);
    group_ = rank_.Group("dp");
    rank_.Collective(group_, 150'000, 500'000);
    rank_.Task("MEMCPY_ASYNC", 480'000, 560'000, 1, "MEMCPY_ASYNC");
  }

  StepRow OnlyRow() {
    const std::vector<StepRow> rows = RowsOf({{3, MapTimes(rank_.trace, {})}}, notes_);
    EXPECT_EQ(rows.size(), 1u);
    return rows.empty() ? StepRow() : rows.front();
  }

  test::RankBuilder rank_;
  std::int32_t group_ = -1;
  std::vector<std::string> notes_;
};

TEST_F(TimeSummary, ThePartsAddUpToTheStep) {
  rank_.CommTask(group_, 0, "Notify_Wait", 150'000, 400'000);
  rank_.CommTask(group_, 0, "Memcpy", 400'000, 490'000);
  const StepRow row = OnlyRow();
  EXPECT_EQ(row.rank, 3);
  EXPECT_EQ(row.step, 7);
  EXPECT_EQ(row.times[kStepTime], 1'000'000);
  EXPECT_EQ(row.times[kComputation], 100'000);
  EXPECT_EQ(row.times[kExposedCommunication], 300'000);  // from 200 us on
  EXPECT_EQ(row.times[kOverlappedCommunication], 50'000);
  EXPECT_EQ(row.times[kCommunication], 350'000);
  EXPECT_EQ(row.times[kExposedMemory], 60'000);
  EXPECT_EQ(row.times[kMemory], 80'000);
  // Before the first work and behind the last one, too.
  EXPECT_EQ(row.times[kFree], 540'000);
  // Until the last rank came at 400 us; what the kernel hides does not count.
  EXPECT_EQ(row.times[kWait], 200'000);
  EXPECT_EQ(row.times[kTransmit], 100'000);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(TimeSummary, WithoutTasksOfCollectivesTheWaitIsUnknown) {
  const StepRow row = OnlyRow();
  EXPECT_EQ(row.times[kExposedCommunication], 300'000);
  EXPECT_EQ(row.times[kWait], std::nullopt);
  EXPECT_EQ(row.times[kTransmit], std::nullopt);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_TRUE(notes_[0].starts_with(
      "the wait for other ranks is unknown in 1 step (of all ranks together)"))
      << notes_[0];
}

TEST(TimesOfRanks, CopiesWithinCopiesCountOnce) {
  test::RankBuilder rank;
  rank.KernelAt(200, 300);
  rank.Task("MEMCPY_ASYNC", 0, 100, 1, "MEMCPY_ASYNC");
  rank.Task("MEMCPY_ASYNC", 10, 50, 2, "MEMCPY_ASYNC");
  rank.Task("MEMCPY_ASYNC", 290, 310, 1, "MEMCPY_ASYNC");
  const TimesOfRank part = MapTimes(rank.trace, {});
  ASSERT_EQ(part.steps.size(), 1u);
  EXPECT_EQ(part.steps[0].step, -1);
  EXPECT_EQ(part.steps[0].copies, 160);
  ASSERT_EQ(part.load.steps.size(), 1u);
  EXPECT_EQ(part.load.steps[0].copies, 110);  // 0-100 and 300-310
  EXPECT_EQ(part.load.steps[0].computing, 100);
  EXPECT_EQ(part.load.steps[0].free, 100);  // 100-200
}

TEST(TimesOfRanks, StepsOfOneRunOnlyAreListed) {
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

// Three steps of 300, 100 and 100 us on rank 0, of 100 us on rank 1: the job waits for rank 0.
TEST(TimeSummaryWarmUp, IsTheFirstStepIfARankTakesMuchLonger) {
  test::RankBuilder slow, usual;
  for (const std::int32_t step : {1, 2, 3}) {
    const TimeNs begin = step == 1 ? 0 : (step + 1) * 100'000;
    slow.Step(step, begin, (step + 2) * 100'000);
    slow.KernelAt(begin + 10'000, begin + 20'000);
    usual.Step(step, step * 100'000, (step + 1) * 100'000);
    usual.KernelAt(step * 100'000 + 10'000, step * 100'000 + 20'000);
  }
  std::vector<std::string> notes;
  const TimesOfRank of_slow = MapTimes(slow.trace, {}), of_usual = MapTimes(usual.trace, {});
  const Ranks both{{0, of_slow}, {1, of_usual}}, alone{{1, of_usual}};
  EXPECT_EQ(WarmUpOf(both, RowsOf(both, notes)), 1);
  EXPECT_FALSE(WarmUpOf(alone, RowsOf(alone, notes)));
}

TEST(TimeSummaryWarmUp, RanksWithoutDeviceWorkAreNamed) {
  test::RankBuilder host;
  host.Step(1, 0, 100'000);
  std::vector<std::string> notes;
  EXPECT_TRUE(RowsOf({{3, MapTimes(host.trace, {})}}, notes).empty());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].find("rank 3: no device work was recorded, so nothing is judged"), 0u);
}

}  // namespace
}  // namespace mpa::time_summary
