// SPDX-License-Identifier: Apache-2.0
// Expectations are worked out by hand from the times in each test.
#include "recipes/free_analysis/launch_delays.h"

#include <gtest/gtest.h>

#include <numeric>

#include "support/rank_builder.h"

namespace mpa::recipes::free_analysis {
namespace {

// Calls at 10, 20 and 30 us launch kernels that begin at 13, 120 and 31 us.
class LaunchDelaysTest : public testing::Test {
 protected:
  LaunchDelaysTest() : thread_(rank_.Thread(1)) {
    Launch("Node@launch", 10'000, 13'000, 5);
    Launch("Node@launch", 20'000, 120'000, 6);
    Launch("Node@launch", 30'000, 31'000, 7);
  }

  void Launch(std::string_view call, TimeNs launched, TimeNs begin, std::int64_t connection) {
    rank_.trace.host_calls.Append({.start = launched,
                                   .dur = 500,
                                   .name = rank_.Text(call),
                                   .track = thread_,
                                   .connection = connection});
    rank_.KernelAt(begin, begin + 1'000);
    rank_.Task("KERNEL_AIVEC", begin, begin + 1'000, connection);
    rank_.trace.device_tasks.connection.back() = connection;
  }

  // Pieces of work that wait at a time in us after the first launch.
  static double WaitingAt(const LaunchDelays& delays, double us) {
    const double share = us * 1'000 / static_cast<double>(delays.length);
    return static_cast<double>(delays.waiting[static_cast<std::size_t>(
               share * static_cast<double>(delays.waiting.size()))]) /
           1'000;
  }

  test::RankBuilder rank_;
  std::int32_t thread_;
};

TEST_F(LaunchDelaysTest, CountsDelaysByTheirLength) {
  const LaunchDelays delays = LaunchDelaysOf(rank_.trace, {});
  ASSERT_EQ(delays.counts.size(), 15u);
  EXPECT_EQ(delays.counts[0], 1);  // 1 us
  EXPECT_EQ(delays.counts[1], 1);  // 3 us
  EXPECT_EQ(delays.counts[6], 1);  // 100 us
  EXPECT_EQ(std::accumulate(delays.counts.begin(), delays.counts.end(), std::int64_t{0}), 3);
}

TEST_F(LaunchDelaysTest, CountsWhatWaitsAtATime) {
  const LaunchDelays delays = LaunchDelaysOf(rank_.trace, {});
  EXPECT_EQ(delays.length, 110'000);
  EXPECT_EQ(WaitingAt(delays, 1), 1);     // the first one
  EXPECT_EQ(WaitingAt(delays, 5), 0);     // it runs, nothing is launched
  EXPECT_EQ(WaitingAt(delays, 20.5), 2);  // the second and the third
  EXPECT_EQ(WaitingAt(delays, 80), 1);
  // All the time that work waited: 3 + 100 + 1 us.
  const auto sum = std::accumulate(delays.waiting.begin(), delays.waiting.end(), std::int64_t{0});
  EXPECT_NEAR(static_cast<double>(sum) / 1'000 * 110 / 300, 104, 0.2);
}

TEST_F(LaunchDelaysTest, FollowsTheOffsetOfTheClocks) {
  const LaunchDelays delays = LaunchDelaysOf(rank_.trace, {.offset = 1'500});
  EXPECT_EQ(delays.counts[1], 2);  // 4.5 and 2.5 us
}

TEST_F(LaunchDelaysTest, LeavesGraphsOut) {
  Launch("AscendCL@aclmdlRIExecuteAsync", 40'000, 60'000, 8);
  const LaunchDelays delays = LaunchDelaysOf(rank_.trace, {});
  EXPECT_EQ(std::accumulate(delays.counts.begin(), delays.counts.end(), std::int64_t{0}), 3);
}

TEST_F(LaunchDelaysTest, SaysNothingWhereClocksCannotBeCompared) {
  const LaunchDelays delays = LaunchDelaysOf(rank_.trace, {.trusted = false});
  EXPECT_TRUE(delays.counts.empty());
  EXPECT_FALSE(DelayChart({&delays}).has_value());
  EXPECT_FALSE(QueueChart(delays, RankId(3)).has_value());
}

TEST_F(LaunchDelaysTest, DrawsRangesUpToTheLongest) {
  const LaunchDelays delays = LaunchDelaysOf(rank_.trace, {});
  const auto chart = DelayChart({&delays, &delays});
  ASSERT_TRUE(chart.has_value());
  EXPECT_EQ(chart->at, (std::vector<double>{0, 2, 5, 10, 20, 50, 100, 200}));
  EXPECT_EQ(chart->series.front().values, (std::vector<double>{2, 2, 0, 0, 0, 0, 2}));
}

}  // namespace
}  // namespace mpa::recipes::free_analysis
