// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mpa/diagnosis/part/graph_draft.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

// An operator of 100 ns puts work into the queue at 50, which a thread does from 200 to 1200. A
// kernel begins at `begin`.
GraphItems WithoutCalls(TimeNs begin, bool has_queue) {
  test::RankBuilder rank;
  const std::int32_t main = rank.Thread(1), queue = rank.Thread(2);
  rank.Op("aten::add", 0, 100, main);
  rank.Launch(7, 0, main);
  if (has_queue) rank.Queued(50, main, 200, 1200, queue);
  rank.trace.kernels.link[rank.KernelAt(begin, begin + 10)] = 7;
  return FindGraphItems(rank.trace, 0);
}

TEST(GraphItems, TheQueueLaunchesWhatAnOperatorAskedFor) {
  const GraphItems behind = WithoutCalls(1500, true);
  ASSERT_EQ(behind.launches.size(), 1u);
  EXPECT_EQ(behind.launches[0].begin, 1200) << "at the end of the queued work";
  EXPECT_EQ(behind.launches[0].track, 1);
  EXPECT_EQ(behind.launches[0].queued, 0);
  EXPECT_FALSE(behind.launches[0].is_call);
  EXPECT_EQ(WithoutCalls(900, true).launches[0].begin, 900) << "not after the kernel began";
}

TEST(GraphItems, WithoutAQueueTheOperatorLaunches) {
  const GraphItems found = WithoutCalls(1500, false);
  ASSERT_EQ(found.launches.size(), 1u);
  EXPECT_EQ(found.launches[0].begin, 0);
  EXPECT_EQ(found.launches[0].track, 0);
  EXPECT_EQ(found.launches[0].queued, -1);
}

// A call from 100 to 300 asks for a collective that begins at `begin` on a device whose clock is 10
// behind.
GraphLaunch LaunchOfCollective(TimeNs begin) {
  test::RankBuilder rank;
  const std::int32_t main = rank.Thread(1);
  rank.trace.host_calls.Append(
      {.start = 100, .dur = 200, .name = rank.Text("launch"), .track = main, .connection = 7});
  rank.Collective(rank.Group("g"), begin, begin + 50);
  rank.trace.communications.connection[0] = 7;
  const GraphItems found = FindGraphItems(rank.trace, 10);
  EXPECT_EQ(found.items.at(0).launched, 100) << "when the host asked for it";
  return found.launches.at(0);
}

TEST(GraphItems, ACollectiveIsLaunchedWithinItsCall) {
  EXPECT_EQ(LaunchOfCollective(240).begin, 250) << "when it begins, in host time";
  EXPECT_EQ(LaunchOfCollective(900).begin, 300)
      << "at the end of the call: something else held it up";
  EXPECT_EQ(LaunchOfCollective(50).begin, 100) << "not before the call";
}

// A graph runs two kernels side by side, and nothing tells its launch. A kernel that is launched at
// 40 follows on the first stream, none on the second.
TEST(GraphItems, AGraphIsLaunchedBeforeWhatFollowsOnAnyStream) {
  test::RankBuilder rank;
  const std::int32_t main = rank.Thread(1);
  rank.Op("aten::add", 0, 100, main);
  rank.Launch(7, 40, main);
  Kernels& kernels = rank.trace.kernels;
  const auto add = [&](TimeNs begin, std::int64_t stream, std::int64_t link) {
    const std::size_t row = rank.KernelAt(begin, begin + 10);
    kernels.stream[row] = stream;
    kernels.link[row] = link;
  };
  add(100, 1, -1);
  add(200, 2, -1);
  add(300, 1, 7);
  const GraphItems found = FindGraphItems(rank.trace, 0);
  ASSERT_EQ(found.items.size(), 3u);
  EXPECT_EQ(found.items[0].launched, 40);
  EXPECT_EQ(found.items[1].launched, 40);
}

}  // namespace
}  // namespace mpa
