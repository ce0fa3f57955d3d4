// SPDX-License-Identifier: Apache-2.0
// What of each table belongs to a step; step_selection_test.cc has the bounds of steps.
#include <gtest/gtest.h>

#include <set>

#include "mpa/model/rank_tables.h"
#include "mpa/model/step_selection.h"
#include "support/rank_builder.h"
#include "support/reading.h"

namespace mpa {
namespace {

using Numbers = std::vector<std::int64_t>;
using Starts = std::vector<TimeNs>;

// Two steps of 100 ns on the host, which touch: 100 is of step 2. The device works for step 1 from
// 120 to 160, for step 2 from 160 to 230.
class StepRulesTest : public ::testing::Test {
 protected:
  StepRulesTest() {
    rank_.Step(1, 0, 100);
    rank_.Step(2, 100, 199);
    rank_.Launch(71, 50, main_);
    rank_.Launch(72, 150, main_);
    trace_.kernels.Append({.start = 120, .dur = 40, .link = 71});
    trace_.kernels.Append({.start = 170, .dur = 60, .link = 72});
  }

  test::RankBuilder rank_;
  RankTrace& trace_ = rank_.trace;
  std::int32_t main_ = rank_.Thread(1);
};

// The device works for step 2 until 230: a call says why it waits, or launched what it does.
TEST_F(StepRulesTest, KeepTheCallsUntilTheDeviceIsDoneAndThoseThatLaunchedItsWork) {
  const auto call = [&](TimeNs start, TimeNs dur, std::int64_t connection) {
    trace_.host_calls.Append({.start = start, .dur = dur, .connection = connection});
    trace_.call_stamps.Append({.time = start, .connection = connection});
  };
  call(10, 5, 1);     // of step 1
  call(90, 15, -1);   // runs when step 2 begins
  call(100, 5, -1);   // of step 2
  call(199, 50, -1);  // likewise
  call(229, 9, -1);   // runs while the device works
  call(230, 5, -1);   // behind it
  call(300, 5, 2);    // behind the steps, and launched work that an operator of step 2 asked for
  call(310, 5, 3);    // behind the steps
  trace_.device_tasks.Append({.start = 320, .dur = 5, .link = 72, .connection = 2});
  SelectStep(trace_, 2);
  EXPECT_EQ(trace_.host_calls.start, (Starts{90, 100, 199, 229, 300}));
  EXPECT_EQ(trace_.call_stamps.time, (Starts{100, 199, 229, 300}));
  EXPECT_FALSE(trace_.IsOfStep(99));
  EXPECT_TRUE(trace_.IsOfStep(100));
  EXPECT_TRUE(trace_.IsOfStep(199));
  EXPECT_FALSE(trace_.IsOfStep(200));
}

TEST_F(StepRulesTest, KeepWhatThreadsDidUntilTheDeviceIsDoneAndSamplesThatHeldWhileItWorked) {
  for (const TimeNs start : {0, 90, 150, 229, 230}) {
    trace_.thread_states.Append({.start = start, .dur = 15, .thread = 7});
    trace_.interrupts.Append({.start = start, .dur = 15, .core = 1});
    trace_.system_calls.Append({.start = start, .dur = 15, .thread = 7});
    trace_.lock_uses.Append({.start = start, .dur = 15, .thread = 7});
  }
  trace_.counters.Append({});
  for (const TimeNs start : {100, 150, 200, 230})
    trace_.counter_samples.Append({.start = start, .dur = 50, .counter = 0});
  SelectStep(trace_, 2);
  const Starts on_host = {90, 150, 229};
  EXPECT_EQ(trace_.thread_states.start, on_host);
  EXPECT_EQ(trace_.interrupts.start, on_host);
  EXPECT_EQ(trace_.system_calls.start, on_host);
  EXPECT_EQ(trace_.lock_uses.start, on_host);
  EXPECT_EQ(trace_.counter_samples.start, (Starts{150, 200}));
  EXPECT_EQ(trace_.counters.Size(), 1u);
}

TEST_F(StepRulesTest, GiveTheMomentAtWhichTwoStepsMeetToTheLater) {
  EXPECT_TRUE(trace_.IsOfStep(-1'000'000));  // no step was chosen
  SelectStep(trace_, 1);
  EXPECT_TRUE(trace_.IsOfStep(0));
  EXPECT_TRUE(trace_.IsOfStep(99));
  EXPECT_FALSE(trace_.IsOfStep(100));
}

TEST_F(StepRulesTest, KeepWorkThatWasQueuedOrDoneInTheStep) {
  const std::int32_t queue = rank_.Thread(2);
  rank_.Queued(10, main_, 20, 30, queue);
  rank_.Queued(60, main_, 110, 130, queue);   // done in step 2
  rank_.Queued(190, main_, 250, 260, queue);  // queued in step 2
  rank_.Queued(240, main_, 260, 270, queue);
  SelectStep(trace_, 2);
  EXPECT_EQ(trace_.queued_work.queued, (Starts{60, 190}));
}

TEST_F(StepRulesTest, KeepCollectionsOfGarbageUntilTheDeviceIsDone) {
  for (const TimeNs start : {10, 80, 120, 220, 230})
    trace_.garbage_collections.Append({.start = start, .dur = 30});
  SelectStep(trace_, 2);
  EXPECT_EQ(trace_.garbage_collections.start, (Starts{80, 120, 220}));
}

TEST_F(StepRulesTest, KeepLaunchesOfTheWorkOfTheStep) {
  rank_.Launch(73, 205, main_);  // behind the steps: what it launched may be work of any
  trace_.launches.Append({.link = 74, .host_time = 206, .host_track = main_, .device_time = 130});
  trace_.launches.Append({.link = 75, .host_time = 207, .host_track = main_, .device_time = 180});
  for (const TimeNs time : {20, 120}) {
    trace_.unanswered_launches.Append({.time = time});
    trace_.named_launches.Append({.time = time});
  }
  SelectStep(trace_, 2);
  EXPECT_EQ(trace_.launches.link, (Numbers{72, 73, 75}));
  EXPECT_EQ(trace_.unanswered_launches.time, Starts{120});
  EXPECT_EQ(trace_.named_launches.time, Starts{120});
}

TEST_F(StepRulesTest, LeaveRowsToWhichOtherTablesReferWhereTheyAre) {
  trace_.graph_replays.Append({.start = 10, .dur = 5});
  trace_.graph_replays.Append({.start = 110, .dur = 5});
  trace_.launches.Append({.link = 76, .host_time = 112, .host_track = main_, .replay = 1});
  const std::int32_t group = rank_.Group("a"), other = rank_.Group("b");
  rank_.Collective(group, 130, 140);
  rank_.Collective(other, 180, 190);
  trace_.model_iterations.Append({.start = 0, .dur = 10, .model = 1});
  SelectStep(trace_, 2);
  ASSERT_EQ(trace_.launches.link, (Numbers{72, 76}));
  EXPECT_EQ(trace_.graph_replays.start[static_cast<std::size_t>(trace_.launches.replay[1])], 110);
  EXPECT_EQ(test::ColumnTexts(trace_, trace_.comm_groups.name),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(trace_.communications.group, std::vector<std::int32_t>{other});
  EXPECT_EQ(trace_.model_iterations.Size(), 1u);
}

TEST_F(StepRulesTest, KeepRunsOfTheDeviceByTheirStart) {
  for (const TimeNs start : {119, 159, 160, 229, 400})
    trace_.device_runs.Append({.start = start, .dur = 1});
  SelectStep(trace_, 2);
  EXPECT_EQ(trace_.device_runs.start, (Starts{160, 229}));
}

TEST_F(StepRulesTest, KeepTheClocksThatHeldWhileTheStepWorked) {
  trace_.kernels.Append({.start = 240, .dur = 20, .link = 72});  // of step 2, until 260
  const auto clock = [&](TimeNs start, std::int64_t mhz, std::int64_t device) {
    trace_.core_clocks.Append({.start = start, .mhz = mhz, .device = device});
  };
  clock(0, 1000, 0);
  clock(0, 800, 1);
  clock(150, 1100, 0);
  clock(160, 1200, 0);
  clock(255, 1300, 0);
  clock(260, 1400, 0);
  SelectStep(trace_, 2);
  EXPECT_EQ(trace_.core_clocks.mhz, (Numbers{800, 1200, 1300}));
}

TEST_F(StepRulesTest, KeepWhatTheProfilerSummedOfTheStepAlone) {
  for (const char* step : {"step", "step1", "step2", "step12"}) {
    CommunicationStep& sums = trace_.communication_summary.emplace_back();
    sums.step = step;
    sums.collective.emplace_back().name = step;
  }
  trace_.kernel_statistics.Append({.count = 4, .total = 400});  // of the whole run
  SelectStep(trace_, 2);
  ASSERT_EQ(trace_.communication_summary.size(), 1u);
  EXPECT_EQ(trace_.communication_summary[0].step, "step2");
  EXPECT_EQ(trace_.communication_summary[0].collective[0].name, "step2");
  EXPECT_TRUE(trace_.kernel_statistics.Empty());
}

TEST(RankTables, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  std::size_t tables = 0;
  RankTrace trace;
  VisitRankTables(trace, [&](const auto& info, const auto& table) {
    ++tables;
    names.insert(info.name);
    EXPECT_EQ(RowsIn(table), 0u);
  });
  EXPECT_EQ(names.size(), tables);
}

}  // namespace
}  // namespace mpa
