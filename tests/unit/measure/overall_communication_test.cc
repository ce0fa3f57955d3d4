// SPDX-License-Identifier: Apache-2.0
// The overall picture of a rank: waiting and transmitting of communication groups.
#include <gtest/gtest.h>

#include "mpa/measure/overall_metrics.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;
using Names = std::vector<std::string>;

// A rank that does nothing but communicate from 0 to 1000.
class GroupTimesTest : public ::testing::Test {
 protected:
  GroupTimesTest() { rank_.Collective(group_, 0, 1000); }

  TimeNs Wait() const { return ComputeOverall(rank_.trace).groups.at(0).wait; }
  // The wait on one plane that runs these tasks of 10 ns, one after the other.
  TimeNs WaitOf(std::initializer_list<const char*> tasks) {
    TimeNs at = 0;
    for (const char* task : tasks) {
      rank_.CommTask(group_, 1, task, at, at + 10);
      at += 10;
    }
    return Wait();
  }

  RankBuilder rank_;
  std::int32_t group_ = rank_.Group("group");
};

TEST_F(GroupTimesTest, CountsNotifyWaitsAsWaiting) {
  EXPECT_EQ(WaitOf({"Memcpy", "Notify_Wait", "Reduce_Inline", "Notify_Wait"}), 20);
  const OverallMetrics metrics = ComputeOverall(rank_.trace);
  EXPECT_TRUE(metrics.has_waits);
  EXPECT_EQ(metrics.groups[0].exposed, 1000);
  EXPECT_EQ(metrics.groups[0].transmit(), 980);
  EXPECT_EQ(metrics.Wait(), 20);
}

TEST_F(GroupTimesTest, CountsBothWaitsOfAnRdmaHandshakeAsTransfer) {
  EXPECT_EQ(WaitOf({"RDMASend", "RDMASend", "Notify_Wait", "RDMASend", "Notify_Wait"}), 0);
}

TEST_F(GroupTimesTest, CountsAWaitAfterASingleSendAsWaiting) {
  EXPECT_EQ(WaitOf({"RDMASend", "Notify_Wait", "RDMASend", "Memcpy", "Notify_Wait"}), 20);
}

TEST_F(GroupTimesTest, CountsAWaitAfterTheHandshakeAsWaiting) {
  EXPECT_EQ(
      WaitOf({"RDMASend", "RDMASend", "Notify_Wait", "RDMASend", "Notify_Wait", "Notify_Wait"}),
      10);
}

TEST_F(GroupTimesTest, KnowsHandshakesByTheTimeOfTasksNotByTheirOrderInTheFile) {
  rank_.CommTask(group_, 1, "Notify_Wait", 20, 30);
  rank_.CommTask(group_, 1, "RDMASend", 0, 10);
  rank_.CommTask(group_, 1, "RDMASend", 10, 20);
  EXPECT_EQ(Wait(), 0);
}

TEST_F(GroupTimesTest, KnowsHandshakesOfEachPlaneOnItsOwn) {
  rank_.CommTask(group_, 1, "RDMASend", 0, 10);
  rank_.CommTask(group_, 2, "RDMASend", 10, 20);
  rank_.CommTask(group_, 1, "Notify_Wait", 20, 30);
  EXPECT_EQ(Wait(), 10);
}

TEST_F(GroupTimesTest, TakesThePlaneThatWaitedLeast) {
  rank_.CommTask(group_, 1, "Notify_Wait", 0, 100);
  rank_.CommTask(group_, 2, "Notify_Wait", 50, 80);
  rank_.CommTask(group_, 2, "Notify_Wait", 90, 100);
  rank_.CommTask(group_, 3, "Notify_Wait", 0, 60);
  EXPECT_EQ(Wait(), 40);
}

TEST_F(GroupTimesTest, TakesTheFirstPlaneThatWaitedOfThoseThatWaitedAlike) {
  rank_.KernelAt(0, 150);  // hides the wait of plane 2
  rank_.CommTask(group_, 1, "Notify_Wait", 200, 240);
  rank_.CommTask(group_, 2, "Notify_Wait", 100, 140);
  EXPECT_EQ(Wait(), 0);
  rank_.CommTask(group_, 2, "Notify_Wait", 300, 301);  // now plane 1 waited less
  EXPECT_EQ(Wait(), 40);
}

TEST_F(GroupTimesTest, IgnoresPlanesThatNeverWaited) {
  rank_.CommTask(group_, 1, "Memcpy", 0, 100);
  rank_.CommTask(group_, 2, "Notify_Wait", 0, 100);
  EXPECT_EQ(Wait(), 100);
}

TEST_F(GroupTimesTest, CountsWaitsThatNothingHidesOnly) {
  rank_.CommTask(group_, 1, "Notify_Wait", 100, 200);
  rank_.KernelAt(0, 150);
  const OverallMetrics metrics = ComputeOverall(rank_.trace);
  EXPECT_EQ(metrics.exposed_communication, 850);
  EXPECT_EQ(metrics.groups.at(0).wait, 50);
  EXPECT_EQ(metrics.groups[0].transmit(), 800);
}

TEST_F(GroupTimesTest, CountsWaitsInsideTheGroupsOwnOperationsOnly) {
  rank_.CommTask(group_, 1, "Notify_Wait", 990, 1500);
  rank_.Collective(rank_.Group("other"), 1000, 2000);
  EXPECT_EQ(Wait(), 10);
}

TEST_F(GroupTimesTest, NeverTransmitsLessThanNothing) {
  rank_.CommTask(group_, 1, "Notify_Wait", 0, 900);
  rank_.CommTask(group_, 1, "Notify_Wait", 100, 1000);  // overlapping tasks count once
  const OverallMetrics metrics = ComputeOverall(rank_.trace);
  EXPECT_EQ(metrics.groups.at(0).wait, 1000);
  EXPECT_EQ(metrics.groups[0].transmit(), 0);
}

TEST(GroupTimes, KnowsNoWaitsWithoutTasks) {
  RankBuilder rank;
  rank.Collective(rank.Group("g"), 0, 100);
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  EXPECT_FALSE(metrics.has_waits);
  EXPECT_EQ(metrics.groups.at(0).exposed, 100);
}

TEST(GroupTimes, MeasuresHowLongTwoGroupsCommunicateAtOnce) {
  RankBuilder rank;
  const std::int32_t dp = rank.Group("Group 0 Communication", "dp");
  const std::int32_t plain = rank.Group("Group 1 Communication");
  const std::int32_t apart = rank.Group("Group 2 Communication", "pp");
  rank.Collective(dp, 0, 100);
  rank.Collective(plain, 60, 160);
  rank.Collective(apart, 200, 300);
  rank.KernelAt(0, 70);
  const OverallMetrics metrics = ComputeOverall(rank.trace);
  ASSERT_EQ(metrics.group_overlaps.size(), 1u);
  EXPECT_EQ(metrics.group_overlaps[0].first, "dp");
  EXPECT_EQ(metrics.group_overlaps[0].second, "Group 1 Communication");
  EXPECT_EQ(metrics.group_overlaps[0].time, 30);  // 70..100
  EXPECT_EQ(metrics.GroupOverlapTime(), 30);
}

Names GroupsOf(const RankBuilder& rank) {
  Names names;
  for (const GroupTime& group : ComputeOverall(rank.trace).groups) names.push_back(group.name);
  return names;
}

TEST(GroupTimes, ListsGroupsByTheirFirstOperations) {
  RankBuilder rank;
  for (const char* name : {"idle", "a", "b", "c"}) rank.Group(name);
  rank.Collective(1, 20, 30);
  rank.Collective(1, 5, 6);
  rank.Collective(2, 10, 20);
  rank.Collective(3, 2, 4);
  rank.CommTask(2, 0, "Notify_Wait", 0, 1);
  EXPECT_EQ(GroupsOf(rank), (Names{"c", "a", "b", "idle"}));
}

TEST(GroupTimes, DoesNotTellMoreGroupsApartThanARankCanHave) {
  for (const std::size_t groups : {kMostGroups, kMostGroups + 1}) {
    RankBuilder rank;
    for (std::size_t i = 0; i < groups; ++i) {
      rank.Collective(rank.Group("group " + std::to_string(i)), 0, 1000);
    }
    const OverallMetrics metrics = ComputeOverall(rank.trace);
    const bool told = groups == kMostGroups;
    EXPECT_EQ(metrics.has_too_many_groups, !told);
    EXPECT_EQ(metrics.groups.size(), told ? groups : 0);
    EXPECT_EQ(metrics.group_overlaps.size(), told ? groups * (groups - 1) / 2 : 0);
    EXPECT_EQ(metrics.exposed_communication, 1000);
  }
}

}  // namespace
}  // namespace mpa
