// SPDX-License-Identifier: Apache-2.0
#include "mpa/model/step_selection.h"

#include <gtest/gtest.h>

#include "mpa/model/step_bounds.h"
#include "support/failures.h"
#include "support/rank_builder.h"
#include "support/reading.h"

namespace mpa {
namespace {

using test::RankBuilder;
using Times = std::vector<TimeNs>;

// Two steps of 100 ns on the host. The device lags behind: what step 1 launches at 50 runs from 120
// to 160, what step 2 launches at 150 from 170 to 230.
class SelectStepTest : public ::testing::Test {
 protected:
  SelectStepTest() {
    rank_.Step(1, 0, 99);
    rank_.Step(2, 100, 199);
    rank_.Launch(71, 50, main_);
    rank_.Launch(72, 150, main_);
    trace_.kernels.Append({.start = 120, .dur = 40, .link = 71});
    trace_.kernels.Append({.start = 170, .dur = 60, .link = 72});
  }

  RankBuilder rank_;
  RankTrace& trace_ = rank_.trace;
  std::int32_t main_ = rank_.Thread(1);
};

TEST_F(SelectStepTest, KeepsHostOperatorsThatStartInTheStep) {
  rank_.Op("before", 99, 120, main_);
  rank_.Op("first", 100, 110, main_);
  rank_.Op("last", 199, 300, main_);
  rank_.Op("after", 200, 210, main_);
  SelectStep(trace_, 2);
  EXPECT_EQ(test::ColumnTexts(trace_, trace_.host_ops.name),
            (std::vector<std::string>{"first", "last"}));
}

TEST_F(SelectStepTest, KeepsDeviceWorkOfTheStepThatLaunchedIt) {
  RankTrace& trace = trace_;
  SelectStep(trace, 1);
  EXPECT_EQ(trace.kernels.start, Times{120});  // though step 2 had begun on the host
}

TEST_F(SelectStepTest, KeepsDeviceWorkThatRunsAfterTheEndOfTheStep) {
  trace_.kernels.Append({.start = 500, .dur = 10, .link = 72});
  SelectStep(trace_, 2);
  EXPECT_EQ(trace_.kernels.start, (Times{170, 500}));
}

TEST_F(SelectStepTest, SortsUnlinkedWorkByTheTimeOfTheDevice) {
  // The device works for step 1 until 160, then for step 2.
  for (const TimeNs start : {10, 130, 159, 160, 220})
    rank_.Task("EVENT_WAIT_SQE", start, start + 1, 5);
  RankTrace& trace = trace_;
  SelectStep(trace, 1);
  EXPECT_EQ(trace.device_tasks.start, (Times{10, 130, 159}));
}

TEST_F(SelectStepTest, LeavesOutUnlinkedWorkAfterTheLastStep) {
  for (const TimeNs start : {160, 230, 231, 900}) rank_.Task("EVENT_WAIT_SQE", start, start + 1, 5);
  SelectStep(trace_, 2);
  EXPECT_EQ(trace_.device_tasks.start, (Times{160, 230}));
}

TEST_F(SelectStepTest, LeavesOutUnlinkedWorkBeforeTheFirstStep) {
  rank_.trace.steps.start[0] = 20;
  rank_.Task("EVENT_WAIT_SQE", 19, 20, 5);
  rank_.Task("EVENT_WAIT_SQE", 20, 21, 5);
  SelectStep(trace_, 1);
  EXPECT_EQ(trace_.device_tasks.start, Times{20});
}

TEST_F(SelectStepTest, CutsOverlapsAtTheBoundsOfTheStep) {
  rank_.Overlap(Activity::kFree, 0, 130);
  rank_.Overlap(Activity::kComputing, 130, 200);
  rank_.Overlap(Activity::kFree, 200, 900);
  SelectStep(trace_, 2);  // on the device from 160 to 230, the last moment included
  EXPECT_EQ(trace_.overlaps.start, Times{160});  // free time at the ends is no part of a step
  EXPECT_EQ(trace_.overlaps.dur, Times{40});
  EXPECT_EQ(trace_.overlaps.activity, std::vector<Activity>{Activity::kComputing});
}

TEST_F(SelectStepTest, KeepsCollectivesAndTheirTasksTogether) {
  const std::int32_t group = rank_.Group("g");
  rank_.Collective(group, 125, 155);
  rank_.CommTask(group, 0, "Notify_Wait", 126, 140);
  rank_.Collective(group, 180, 190);
  rank_.CommTask(group, 0, "Notify_Wait", 181, 185);
  SelectStep(trace_, 1);
  EXPECT_EQ(trace_.communications.start, Times{125});
  EXPECT_EQ(trace_.comm_tasks.start, Times{126});
}

TEST_F(SelectStepTest, KeepsWhatTheProfilerWroteOfTheStep) {
  for (const std::int32_t step : {1, 2}) {
    trace_.transfers.Append({.step = step, .bytes = 10 * step});
    trace_.step_times.Append({.step = step, .computing = 100 * step});
    trace_.memory_samples.Append({.time = 100 * step - 50, .reserved_bytes = step});
  }
  SelectStep(trace_, 2);
  EXPECT_EQ(trace_.transfers.bytes, std::vector<std::int64_t>{20});
  EXPECT_EQ(trace_.step_times.computing, Times{200});
  EXPECT_EQ(trace_.memory_samples.reserved_bytes, std::vector<std::int64_t>{2});
  EXPECT_EQ(trace_.steps.id, std::vector<std::int32_t>{2});
}

TEST_F(SelectStepTest, KeepsTheMemoryOfOperatorsThatAllocateInTheStep) {
  rank_.Op("aten::a", 50, 60, main_);
  rank_.Op("aten::b", 150, 160, main_);
  rank_.Allocation("aten::a", 1, 55);
  rank_.Allocation("aten::b", 2, 155);
  SelectStep(trace_, 2);
  EXPECT_EQ(trace_.allocations.bytes, std::vector<std::int64_t>{2});
}

TEST_F(SelectStepTest, KeepsTheMemoryOfWorkThatTheStepQueuedThoughItWasDoneLater) {
  using Sizes = std::vector<std::int64_t>;
  for (const auto& [step, sizes] : {std::pair{1, Sizes{1, 2}}, std::pair{2, Sizes{4}}}) {
    RankBuilder rank;
    const std::int32_t main = rank.Thread(1);
    rank.Step(1, 0, 99);
    rank.Step(2, 100, 199);
    rank.Op("aten::a", 50, 60, main);
    rank.Op("aten::b", 120, 130, main);
    rank.Queued(55, main, 120, 140, rank.Thread(2));
    rank.Allocation("cann::a", 1, 125);
    rank.Allocation("workspace", 2, 126);  // no operator is called so
    rank.Allocation("aten::b", 4, 127);
    SelectStep(rank.trace, step);
    EXPECT_EQ(rank.trace.allocations.bytes, sizes);
  }
}

TEST_F(SelectStepTest, KeepsTheModulesOfTheStepAndWhatRunsAroundIt) {
  rank_.Call("main", -10, 500, main_);
  rank_.Call("nn.Module: A_0", 20, 80, main_);
  rank_.Call("nn.Module: B_0", 120, 180, main_);
  SelectStep(trace_, 2);
  EXPECT_EQ(test::ColumnTexts(trace_, trace_.python_calls.name),
            (std::vector<std::string>{"main", "nn.Module: B_0"}));
}

// On the host the last step that began counts.
TEST_F(SelectStepTest, GivesWhatTwoStepsHoldToTheLater) {
  trace_.steps.end[0] = 150;  // reaches into the step that begins at 100
  rank_.Op("first", 99, 120, main_);
  rank_.Op("second", 100, 120, main_);
  SelectStep(trace_, 1);
  EXPECT_EQ(test::ColumnTexts(trace_, trace_.host_ops.name), std::vector<std::string>{"first"});
}

TEST_F(SelectStepTest, EndsAStepWhereTheNextBeginsOnTheDevice) {
  trace_.kernels.Append({.start = 140, .dur = 100, .link = 71});  // of step 1, on another stream
  const StepBounds bounds(trace_, kAsRecorded);
  EXPECT_EQ(bounds.DeviceBegin(1), 170);   // with what it launched itself
  EXPECT_EQ(bounds.DeviceFinish(0), 170);  // not 240
  EXPECT_EQ(bounds.DeviceFinish(1), 230);
  EXPECT_EQ(bounds.DeviceEnd(1), 231);
}

// The device is more than a step behind: what step 2 launched on other streams runs beside step 1.
TEST_F(SelectStepTest, BeginsAStepWhereTheStreamThatComputesHasFinishedTheStepBefore) {
  trace_.kernels.Append({.start = 125, .dur = 5, .stream = 9, .link = 72});
  trace_.communications.Append({.start = 130, .dur = 20, .link = 72});
  const StepBounds bounds(trace_, kAsRecorded);
  EXPECT_EQ(bounds.DeviceFinish(0), 160);
  EXPECT_EQ(bounds.DeviceBegin(1), 160);
}

TEST_F(SelectStepTest, BeginsTheFirstStepWhereEarlierWorkHasEnded) {
  EXPECT_EQ(StepBounds(trace_, kAsRecorded).DeviceBegin(0), 0);
  trace_.earlier_work_end = 60;  // it was queued before the capture
  EXPECT_EQ(StepBounds(trace_, kAsRecorded).DeviceBegin(0), 60);
  rank_.Launch(70, -10, main_);  // or in the capture, before the step
  trace_.kernels.Append({.start = 60, .dur = 15, .link = 70});
  EXPECT_EQ(StepBounds(trace_, kAsRecorded).DeviceBegin(0), 75);
  trace_.communications.Append({.start = 60, .dur = 500, .link = 70});
  EXPECT_EQ(StepBounds(trace_, kAsRecorded).DeviceBegin(0), 120);  // its first kernel is of the step
}

TEST_F(SelectStepTest, KnowsWhenTheDeviceIsDoneWithAStep) {
  const StepBounds bounds(trace_, kAsRecorded);
  EXPECT_EQ(bounds.DeviceBegin(0), 0);
  EXPECT_EQ(bounds.DeviceFinish(0), 160);
  EXPECT_EQ(bounds.DeviceBegin(1), 160);
  trace_.steps.start[1] = 165;  // nothing runs when it begins
  EXPECT_EQ(StepBounds(trace_, kAsRecorded).DeviceFinish(0), 160);
  EXPECT_EQ(StepBounds(trace_, kAsRecorded).DeviceBegin(1), 165);
  EXPECT_EQ(StepBounds(trace_, kAsRecorded).DeviceEnd(0), 165);
}

TEST_F(SelectStepTest, BeginsAStepWithoutDeviceWorkBehindAllWorkOfTheStepsBefore) {
  trace_.kernels.Append({.start = 165, .dur = 335, .link = 71});  // outlasts the work of step 2
  rank_.Step(3, 200, 299);
  const StepBounds bounds(trace_, kAsRecorded);
  EXPECT_EQ(bounds.DeviceBegin(1), 170);
  EXPECT_EQ(bounds.DeviceBegin(2), 500);
}

TEST_F(SelectStepTest, BeginsNoStepBeforeTheStepBefore) {
  rank_.Step(3, 200, 299);
  rank_.Launch(73, 250, main_);
  trace_.kernels.Append({.start = 140, .dur = 5, .link = 73});  // overtakes the work of step 2
  const StepBounds bounds(trace_, kAsRecorded);
  EXPECT_EQ(bounds.DeviceBegin(1), 160);
  EXPECT_EQ(bounds.DeviceBegin(2), 160);
}

TEST_F(SelectStepTest, GoesByTheTimeOfStepsNotByTheirOrderInTheFile) {
  trace_.steps.Reorder({1, 0});
  SelectStep(trace_, 1);
  EXPECT_EQ(trace_.kernels.start, Times{120});
}

TEST_F(SelectStepTest, PutsEveryKernelIntoOneStep) {
  for (TimeNs start = 0; start < 230; start += 7) trace_.kernels.Append({.start = start, .dur = 3});
  RankBuilder other;
  other.trace.steps = trace_.steps;
  other.trace.launches = trace_.launches;
  other.trace.kernels = trace_.kernels;
  const std::size_t all = trace_.kernels.Size();
  SelectStep(trace_, 1);
  SelectStep(other.trace, 2);
  EXPECT_EQ(trace_.kernels.Size() + other.trace.kernels.Size(), all);
}

TEST_F(SelectStepTest, ListsTheStepsWhenThereIsNoSuchStep) {
  const Error error = test::ErrorOf([&] { SelectStep(trace_, 50); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_HAS_TEXT(error.what(), "50");
  EXPECT_HAS_TEXT(error.what(), "1, 2");
}

TEST(SelectStep, SaysWhatToDoWhenACaptureHasNoSteps) {
  RankTrace trace;
  const Error error = test::ErrorOf([&] { SelectStep(trace, 1); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_HAS_TEXT(error.what(), "step()");
}

// A compiled call that begins in the last instant of a step belongs to it, as an operator does.
TEST(HostSteps, HoldTheirEndsUnlessTheNextBeginsThere) {
  Steps steps;
  steps.Append({.id = 8, .start = 20, .end = 30});
  steps.Append({.id = 7, .start = 10, .end = 20});
  const HostSteps on_host(steps);
  const auto id = [&](TimeNs time) {
    const auto step = on_host.OfHostTime(time);
    return step ? on_host.Id(*step) : -1;
  };
  EXPECT_EQ(id(9), -1);
  EXPECT_EQ(id(10), 7);
  EXPECT_EQ(id(20), 8);
  EXPECT_EQ(id(30), 8);
  EXPECT_EQ(id(31), -1);
}

// Step 2 begins on the device at 160, when step 1 has finished there, and ends with its last work.
TEST_F(SelectStepTest, KeepsTheWindowOfTheStep) {
  SelectStep(trace_, 2);
  EXPECT_EQ(trace_.step_begin, 160);
  EXPECT_EQ(trace_.step_end, 230);
}

// The host's clock is 10 ahead: its step begins at 990 on the device's.
TEST(SelectStep, PutsTheWindowOnTheClockOfTheDevice) {
  RankBuilder rank;
  rank.Step(1, 1000, 1099);
  rank.Launch(71, 1050, rank.Thread(1));
  rank.trace.kernels.Append({.start = 1060, .dur = 10, .link = 71});
  SelectStep(rank.trace, 1, 10);
  EXPECT_EQ(rank.trace.step_begin, 990);
  EXPECT_EQ(rank.trace.step_end, 1089);
}

TEST_F(SelectStepTest, DropsStepsAtTheEndThatLaunchedNothing) {
  rank_.Step(3, 200, 299);
  rank_.Step(4, 300, 399);
  DropEmptySteps(trace_);
  EXPECT_EQ(trace_.steps.id, (std::vector<std::int32_t>{1, 2}));
}

TEST_F(SelectStepTest, KeepsStepsBeforeOneThatLaunchedWork) {
  rank_.Step(3, 200, 299);
  rank_.Step(4, 300, 399);
  rank_.Launch(73, 350, main_);
  trace_.device_tasks.Append({.start = 360, .dur = 5, .link = 73});
  DropEmptySteps(trace_);
  EXPECT_EQ(trace_.steps.Size(), 4u);
}

TEST_F(SelectStepTest, KeepsAllStepsWhereNoDeviceWorkWasRead) {
  trace_.kernels.Filter([](std::size_t) { return false; });
  DropEmptySteps(trace_);
  EXPECT_EQ(trace_.steps.Size(), 2u);
}

}  // namespace
}  // namespace mpa
