// SPDX-License-Identifier: Apache-2.0
// Which operation a communication task is a part of.
#include "mpa/model/collective_tasks.h"

#include <gtest/gtest.h>

#include "support/rank_builder.h"

namespace mpa {
namespace {

using RowNumbers = std::vector<std::int64_t>;

TEST(OperationsOfTasks, AreThoseThatRunWhenTheTaskStarts) {
  test::RankBuilder rank;
  const std::int32_t group = rank.Group("g");
  rank.Collective(group, 100, 200);
  rank.Collective(group, 200, 300);
  for (const TimeNs start : {100, 150, 200, 201, 300})
    rank.CommTask(group, 0, "Memcpy", start, 301);
  EXPECT_EQ(OperationsOfTasks(rank.trace), (RowNumbers{0, 0, 0, 1, 1}));
}

TEST(OperationsOfTasks, AreTheNearestOnesForTasksBesideTheirPlane) {
  test::RankBuilder rank;
  const std::int32_t group = rank.Group("g");
  rank.Collective(group, 100, 140);
  rank.Collective(group, 300, 320);
  for (const TimeNs start : {59, 60, 160, 180, 181, 281, 341}) {
    rank.CommTask(group, 1, "Memcpy", start, start + 1);
  }
  // 40 is as far as the first may be away, 20 the second.
  EXPECT_EQ(OperationsOfTasks(rank.trace), (RowNumbers{-1, 0, 0, 0, -1, 1, -1}));
}

TEST(OperationsOfTasks, AreOfTheirGroup) {
  test::RankBuilder rank;
  const std::int32_t first = rank.Group("first");
  const std::int32_t second = rank.Group("second");
  rank.Collective(first, 100, 200);
  rank.Collective(second, 300, 400);
  rank.CommTask(second, 0, "Memcpy", 150, 160);
  rank.CommTask(second, 0, "Memcpy", 250, 260);
  EXPECT_EQ(OperationsOfTasks(rank.trace), (RowNumbers{-1, 1}));
}

}  // namespace
}  // namespace mpa
