// SPDX-License-Identifier: Apache-2.0
#include "mpa/model/launches.h"

#include <gtest/gtest.h>

#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;

// A launch whose arrow ends at `device_time` on `stream`.
void LaunchTo(RankTrace& trace, std::int64_t link, TimeNs device_time, std::int64_t stream) {
  trace.launches.Append(
      {.link = link, .host_time = 1, .device_time = device_time, .stream = stream});
}

void KernelOn(RankTrace& trace, TimeNs start, std::int64_t stream, std::int64_t link = -1) {
  trace.kernels.Append({.start = start, .dur = 5, .stream = stream, .link = link});
}

TEST(LinkByTime, LinksAKernelToTheLaunchThatEndsAtItsStartOnItsStream) {
  RankTrace trace;
  LaunchTo(trace, 7, 100, 1);
  LaunchTo(trace, 8, 100, 2);
  LaunchTo(trace, 9, 200, 2);
  KernelOn(trace, 100, 2);
  KernelOn(trace, 100, 1);
  KernelOn(trace, 200, 2);
  LinkByTime(trace);
  EXPECT_EQ(trace.kernels.link, (std::vector<std::int64_t>{8, 7, 9}));
}

TEST(LinkByTime, GoesByTheTimeAloneWhereStreamsAreNumberedDifferently) {
  RankTrace trace;
  LaunchTo(trace, 7, 100, 1);
  KernelOn(trace, 100, 33);
  LinkByTime(trace);
  EXPECT_EQ(trace.kernels.link, std::vector<std::int64_t>{7});
}

TEST(LinkByTime, GuessesNothingWhenSeveralLaunchesEndAtThatTime) {
  RankTrace trace;
  LaunchTo(trace, 7, 100, 1);
  LaunchTo(trace, 8, 100, 2);
  KernelOn(trace, 100, 33);
  LinkByTime(trace);
  EXPECT_EQ(trace.kernels.link, std::vector<std::int64_t>{-1});
}

TEST(LinkByTime, LeavesWorkWithoutALaunchUnlinked) {
  RankTrace trace;
  LaunchTo(trace, 7, 100, 1);
  KernelOn(trace, 101, 1);
  LinkByTime(trace);
  EXPECT_EQ(trace.kernels.link, std::vector<std::int64_t>{-1});
}

TEST(LinkByTime, GuessesNothingOnGpusWhoseTracesHaveAllArrows) {
  RankTrace trace;
  trace.device = DeviceKind::kGpu;
  trace.launches.Append({.link = 3, .device_time = 100, .stream = 8});
  trace.kernels.Append({.start = 100, .stream = 7});
  LinkByTime(trace);
  EXPECT_EQ(trace.kernels.link[0], -1);
}

TEST(LinkByTime, KeepsTheLinksThatTheCaptureGave) {
  RankTrace trace;
  LaunchTo(trace, 7, 100, 1);
  KernelOn(trace, 100, 1, 42);
  LinkByTime(trace);
  EXPECT_EQ(trace.kernels.link, std::vector<std::int64_t>{42});
}

TEST(LinkByTime, LeavesCollectivesAndDeviceTasksToTheirReaders) {
  RankBuilder rank;
  LaunchTo(rank.trace, 7, 100, 1);
  rank.Collective(rank.Group("g"), 100, 200);
  rank.Task("SDMA_SQE", 100, 110, 1);  // a task of another process at the same time
  LinkByTime(rank.trace);
  EXPECT_EQ(rank.trace.communications.link, std::vector<std::int64_t>{-1});
  EXPECT_EQ(rank.trace.device_tasks.link, std::vector<std::int64_t>{-1});
}

TEST(LinkByTime, IgnoresLaunchesThatSayNothingOfTheDevice) {
  RankBuilder rank;
  rank.Launch(7, 1, 0);  // device time -1
  KernelOn(rank.trace, -1, -1);
  LinkByTime(rank.trace);
  EXPECT_EQ(rank.trace.kernels.link, std::vector<std::int64_t>{-1});
}

TEST(LaunchIndex, FindsTheLastLaunchWithALink) {
  RankBuilder rank;
  rank.Launch(7, 10, 0);
  rank.Launch(8, 20, 0);
  rank.Launch(7, 30, 0);
  const LaunchIndex index(rank.trace);
  EXPECT_EQ(index.Find(7), 2u);
  EXPECT_EQ(index.Find(8), 1u);
  EXPECT_EQ(index.Find(9), std::nullopt);
}

TEST(LaunchIndex, FindsNothingForAMissingLink) {
  RankBuilder rank;
  rank.Launch(-1, 10, 0);
  EXPECT_EQ(LaunchIndex(rank.trace).Find(-1), std::nullopt);
}

}  // namespace
}  // namespace mpa
