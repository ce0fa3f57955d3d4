// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/graph_items.h"

#include <gtest/gtest.h>

#include "support/rank_builder.h"

namespace mpa {
namespace {

// An operator of 100 ns puts work into the queue at 50, which a thread does from 200 to 1200. A kernel begins at
// `begin`.
GraphItems WithoutCalls(TimeNs begin, bool has_queue) {
  test::RankBuilder rank;
  const std::int32_t main = rank.Thread(1), queue = rank.Thread(2);
  rank.Op("aten::add", 0, 100, main);
  rank.Launch(7, 0, main);
  if (has_queue) rank.Queued(50, main, 200, 1200, queue);
  rank.trace.kernels.link[rank.KernelAt(begin, begin + 10)] = 7;
  return FindGraphItems(rank.trace);
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

}  // namespace
}  // namespace mpa
