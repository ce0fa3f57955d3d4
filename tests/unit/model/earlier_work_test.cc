// SPDX-License-Identifier: Apache-2.0
#include "mpa/model/earlier_work.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "mpa/model/step_bounds.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using Times = std::vector<TimeNs>;

// A step from 0 to 99 on the host. Its first kernel is launched at 20 and begins at 160, because
// the stream works until 150 for steps before the capture.
class EarlierWorkTest : public ::testing::Test {
 protected:
  EarlierWorkTest() {
    rank_.Step(1, 0, 99);
    rank_.Launch(0, 20, main_);
    Kernel(0, 100, kNone);
    Kernel(100, 150, kNone);
    Kernel(160, 200, 0);
  }

  void Kernel(TimeNs start, TimeNs end, std::int64_t link, std::int64_t stream = 7) {
    trace_.kernels.Append({.start = start, .dur = end - start, .stream = stream, .link = link});
  }
  void Copy(TimeNs start, TimeNs end, std::int64_t link, std::int64_t stream) {
    rank_.Task("gpu_memcpy", start, end, stream);
    trace_.device_tasks.link.back() = link;
  }
  void Collective(TimeNs start, TimeNs end, std::int64_t link) {
    rank_.Collective(0, start, end);
    trace_.communications.link.back() = link;
  }

  static constexpr std::int64_t kNone = -1;  // no launch
  test::RankBuilder rank_{DeviceKind::kGpu};
  RankTrace& trace_ = rank_.trace;
  std::int32_t main_ = rank_.Thread(1);
};

TEST_F(EarlierWorkTest, IsWhatRunsBeforeTheFirstLaunchedWork) {
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.kernels.start, Times{160});
  EXPECT_EQ(trace_.earlier_work_end, 150);
  EXPECT_EQ(StepBounds(trace_, kAsRecorded).DeviceBegin(0), 150);
  EXPECT_EQ(StepBounds(trace_, kAsRecorded).DeviceFinish(0), 200);
}

TEST_F(EarlierWorkTest, IsNotWhatLosesItsLaunchLater) {
  Kernel(200, 300, kNone);
  Copy(300, 310, kNone, 7);
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.kernels.start, (Times{160, 200}));
  EXPECT_EQ(trace_.device_tasks.start, Times{300});
}

// A copy ahead of the step, and a collective of it, run beside the work of steps before.
TEST_F(EarlierWorkTest, RunsOnUntilItsOwnStreamHasWorkOfTheCapture) {
  Copy(30, 40, 0, 9);
  Copy(20, 25, kNone, 9);
  Collective(50, 155, 0);
  Collective(10, 45, kNone);
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.kernels.start, Times{160});
  EXPECT_EQ(trace_.device_tasks.start, Times{30});
  EXPECT_EQ(trace_.communications.start, Times{50});
  EXPECT_EQ(trace_.earlier_work_end, 150);
}

TEST_F(EarlierWorkTest, OnAStreamWithoutLaunchesEndsWithTheFirstLaunchedWorkOfAll) {
  Kernel(140, 145, kNone, 11);
  Kernel(170, 180, kNone, 11);
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.kernels.start, (Times{160, 170}));
}

TEST_F(EarlierWorkTest, BesideKernelsOfTheStepDoesNotDelayIt) {
  Collective(100, 190, kNone);
  Collective(195, 210, 0);
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.communications.start, Times{195});
  EXPECT_EQ(trace_.earlier_work_end, 160);
}

TEST_F(EarlierWorkTest, WasNotLaunchedInTheCapture) {
  trace_.unanswered_launches.Append({.time = 90, .track = main_});  // perhaps what begins at 100
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.kernels.start, (Times{100, 160}));
  EXPECT_EQ(trace_.earlier_work_end, 100);
}

TEST_F(EarlierWorkTest, IsUnknownWhereTheFirstStepLaunchedNothing) {
  trace_.launches.host_time[0] = 120;
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.kernels.Size(), 3u);
  EXPECT_EQ(trace_.earlier_work_end, 0);
}

TEST_F(EarlierWorkTest, IsUnknownWhereNumbersOfLaunchesAreMissing) {
  trace_.issues.Count(Promise::kWorkHasLaunch, "they lack the numbers that they share", "x.json");
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.kernels.Size(), 3u);
}

// Nothing would have kept it waiting.
TEST_F(EarlierWorkTest, DoesNotBeginLongAfterTheFirstLaunch) {
  for (TimeNs& start : trace_.kernels.start) start += 30'000'000;
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.kernels.Size(), 3u);
  EXPECT_EQ(trace_.earlier_work_end, 0);
}

TEST_F(EarlierWorkTest, IsThereInCapturesWithoutSteps) {
  trace_.steps = {};
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.kernels.start, Times{160});
}

TEST_F(EarlierWorkTest, IsNotLookedForWhereNothingWasLaunched) {
  for (std::int64_t& link : trace_.kernels.link) link = kNone;
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.kernels.Size(), 3u);
}

// Nothing of it was recorded. A step from 1 ms on launches two kernels, which begin 8 ms later.
class UnrecordedWorkTest : public EarlierWorkTest {
 protected:
  UnrecordedWorkTest() {
    trace_.steps = {};
    trace_.kernels = {};
    trace_.launches = {};
    rank_.Step(3, kMs, 3 * kMs);
    rank_.Launch(0, kMs + 100, main_);
    rank_.Launch(1, kMs + 200, main_);
    Kernel(9 * kMs, 10 * kMs, 0);
    Kernel(10 * kMs, 12 * kMs, 1);
  }

  static constexpr TimeNs kMs = 1'000'000;
};

TEST_F(UnrecordedWorkTest, KeptTheQueueWaiting) {
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.earlier_work_end, 9 * kMs);
  EXPECT_FALSE(trace_.earlier_work_was_recorded);
  EXPECT_EQ(StepBounds(trace_, kAsRecorded).DeviceBegin(0), 9 * kMs);
  EXPECT_EQ(StepBounds(trace_, kAsRecorded).DeviceFinish(0), 12 * kMs);
  EXPECT_EQ(trace_.busiest_stream, 7);
}

// The call itself may take long, as while code is loaded: the next one shows that it had returned.
TEST_F(UnrecordedWorkTest, IsNotSeenWhileTheCallMayNotHaveReturned) {
  trace_.launches.host_time[1] = 9 * kMs - 900'000;
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.earlier_work_end, 0);
}

TEST_F(UnrecordedWorkTest, IsNotWhatAnotherThreadLaunchedMeanwhile) {
  trace_.launches.host_track[1] = rank_.Thread(2);
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.earlier_work_end, 0);
}

// The busiest stream waited for what was recorded.
TEST_F(UnrecordedWorkTest, IsNotACopyOfTheCapture) {
  rank_.Launch(2, kMs + 50, main_);
  Copy(kMs + 60, 9 * kMs - 900'000, 2, 9);
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.earlier_work_end, 0);
}

// A small kernel of another stream does not wait for it.
TEST_F(UnrecordedWorkTest, RunsBesideOtherStreams) {
  rank_.Launch(2, kMs + 50, main_);
  Kernel(kMs + 60, kMs + 65, 2, 9);
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.earlier_work_end, 9 * kMs);
}

// Of NPUs the call that launched the first kernel tells when it had returned.
TEST_F(UnrecordedWorkTest, OfNpusIsSeenWhereTheCallsAreThere) {
  trace_.device = DeviceKind::kNpu;
  rank_.Task("KERNEL_AICORE", 9 * kMs, 10 * kMs, 7);
  trace_.device_tasks.connection[0] = 40;
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.earlier_work_end, 0) << "nothing tells when the call returned";
  trace_.host_calls.Append({.start = kMs + 150, .dur = 100, .track = main_, .connection = 40});
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.earlier_work_end, 9 * kMs);
  EXPECT_FALSE(trace_.earlier_work_was_recorded);
  trace_.earlier_work_end = 0;
  trace_.host_calls.dur[0] = 8 * kMs - 1000;
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.earlier_work_end, 0) << "the call lasted until the kernel began";
}

// The host waits from 1.1 ms to 8 ms, launches then, and the kernels begin at once.
class SynchronisedWorkTest : public UnrecordedWorkTest {
 protected:
  SynchronisedWorkTest() {
    trace_.launches.host_time = {9 * kMs - 100, 9 * kMs - 50};
    trace_.steps.end[0] = 9 * kMs;
    rank_.Op("cudaDeviceSynchronize", kMs + 100'000, 8 * kMs, main_);
  }
};

TEST_F(SynchronisedWorkTest, EndsWithTheCallThatWaitedForIt) {
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.earlier_work_end, 8 * kMs);
  EXPECT_EQ(StepBounds(trace_, kAsRecorded).DeviceBegin(0), 8 * kMs);
}

// The first call of a program may take as long.
TEST_F(SynchronisedWorkTest, IsUnknownInTheFirstStepOfARun) {
  trace_.steps.id[0] = 0;
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.earlier_work_end, 0);
}

TEST_F(SynchronisedWorkTest, IsNotWhatWasLaunchedBeforeTheCall) {
  trace_.unanswered_launches.Append({.time = kMs + 50'000, .track = main_});
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.earlier_work_end, 0);
}

TEST_F(EarlierWorkTest, OfNpusStaysAndEndsBeforeTheFirstStep) {
  trace_.device = DeviceKind::kNpu;
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.kernels.Size(), 3u);
  EXPECT_EQ(trace_.earlier_work_end, 150);
}

// As on NPUs the work of graphs.
TEST_F(EarlierWorkTest, OfNpusIsUnknownWhereLaterWorkHasNoLaunches) {
  trace_.device = DeviceKind::kNpu;
  Kernel(200, 300, kNone);
  FindEarlierWork(trace_);
  EXPECT_EQ(trace_.earlier_work_end, 0);
}

}  // namespace
}  // namespace mpa
