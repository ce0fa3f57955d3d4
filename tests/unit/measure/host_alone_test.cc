// SPDX-License-Identifier: Apache-2.0
// Steps of captures without device work.
#include "mpa/measure/host_alone.h"

#include <gtest/gtest.h>

#include "mpa/measure/host_timeline.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

TimeNs In(const HostAlone& host, TimeCategory category) {
  return host.categories.at(static_cast<std::size_t>(category));
}

// The steps take 100, 300 and 200. Of the first, 10 are not recorded; loading before it, and what
// another thread does, is of no step.
TEST(HostAlone, TellsWhatTheThreadOfTheStepsDid) {
  test::RankBuilder rank;
  const std::int32_t main = rank.Thread(1), other = rank.Thread(2);
  rank.Step(7, 0, 100);
  rank.Step(9, 400, 600);
  rank.Step(8, 100, 400);
  rank.Op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", -50, 40, main);
  rank.Op("aten::add", 50, 100, main);
  rank.Op("ProfilerStep#8", 100, 400, main);
  rank.Op("aten::mm", 150, 350, main);
  rank.Op("ProfilerStep#9", 400, 600, main);
  rank.Op("aten::mm", 0, 600, other);
  const HostAlone host = HostAloneOf(rank.trace, HostTimeline(rank.trace));
  EXPECT_EQ(host.steps, (std::vector<TimeNs>{100, 300, 200}));
  EXPECT_EQ(host.MedianStep(), 200);
  EXPECT_EQ(In(host, TimeCategory::kDataLoader), 40);
  EXPECT_EQ(In(host, TimeCategory::kDispatchOp), 50 + 200);
  EXPECT_EQ(In(host, TimeCategory::kHostIdle), 100 + 200) << "the marks of steps";
}

TEST(HostAlone, WithoutStepsKnowsNothing) {
  test::RankBuilder rank;
  rank.Op("aten::mm", 0, 600, rank.Thread(1));
  const HostAlone host = HostAloneOf(rank.trace, HostTimeline(rank.trace));
  EXPECT_TRUE(host.steps.empty() && host.categories.empty());
  EXPECT_EQ(host.MedianStep(), 0);
}

}  // namespace
}  // namespace mpa
