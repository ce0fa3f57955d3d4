// SPDX-License-Identifier: Apache-2.0
// The overall picture of a rank: waiting and transmitting of communication groups.
#include <gtest/gtest.h>

#include "mpa/measure/overall_metrics.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;
using Names = std::vector<std::string>;

constexpr TimeNs kUs = 1000;

// A rank that does nothing but communicate for a millisecond.
class GroupTimesTest : public ::testing::Test {
 protected:
  GroupTimesTest() { rank_.Collective(group_, 0, 1000 * kUs); }

  TimeNs Wait() const { return ComputeOverall(rank_.trace).groups.at(0).wait; }
  void Task(const char* name, TimeNs start, TimeNs end, std::int32_t peer = -1) {
    rank_.CommTask(group_, 1, name, start * kUs, end * kUs);
    rank_.trace.comm_tasks.peer.back() = peer;
  }

  RankBuilder rank_;
  std::int32_t group_ = rank_.Group("group");
};

TEST_F(GroupTimesTest, WaitsUntilTheLastMemberComes) {
  Task("Notify_Wait", 10, 300, 1);
  Task("Notify_Wait", 10, 700, 2);
  Task("Memcpy", 700, 900, 1);
  const OverallMetrics metrics = ComputeOverall(rank_.trace);
  EXPECT_TRUE(metrics.has_waits);
  EXPECT_EQ(metrics.groups.at(0).exposed, 1000 * kUs);
  EXPECT_EQ(metrics.groups[0].wait, 700 * kUs);
  EXPECT_EQ(metrics.groups[0].transmit(), 300 * kUs);
  EXPECT_EQ(metrics.Wait(), 700 * kUs);
}

TEST_F(GroupTimesTest, LaterWaitsForAPeerArePartOfTheTransfer) {
  Task("Notify_Wait", 0, 100, 1);
  Task("Memcpy", 100, 200, 1);
  Task("Notify_Wait", 200, 900, 1);
  EXPECT_EQ(Wait(), 100 * kUs);
}

TEST_F(GroupTimesTest, APeerThatIsThereIsNotWaitedFor) {
  Task("Notify_Wait", 600, 602, 1);  // 2 us: it had come before
  EXPECT_EQ(Wait(), 0);
}

TEST_F(GroupTimesTest, WhoComesFiveMicrosecondsBeforeTheLastIsLast) {
  Task("Notify_Wait", 0, 5, 1);
  EXPECT_EQ(Wait(), 0);
  Task("Notify_Wait", 0, 6, 2);
  EXPECT_EQ(Wait(), 6 * kUs);
}

TEST_F(GroupTimesTest, WithoutPeersTheWaitsBeforeTheFirstTransferCount) {
  Task("Memcpy", 0, 10);  // stays on the device
  Task("Notify_Wait", 10, 400);
  Task("Memcpy", 400, 500);
  Task("Notify_Wait", 500, 900);
  EXPECT_EQ(Wait(), 400 * kUs);
}

TEST_F(GroupTimesTest, CountsWaitsThatNothingHidesOnly) {
  Task("Notify_Wait", 0, 200, 1);
  rank_.KernelAt(0, 150 * kUs);
  const OverallMetrics metrics = ComputeOverall(rank_.trace);
  EXPECT_EQ(metrics.exposed_communication, 850 * kUs);
  EXPECT_EQ(metrics.groups.at(0).wait, 50 * kUs);
  EXPECT_EQ(metrics.groups[0].transmit(), 800 * kUs);
}

TEST_F(GroupTimesTest, CountsWaitsInsideTheOperationOnly) {
  Task("Notify_Wait", 990, 1500, 1);
  rank_.Collective(rank_.Group("other"), 1000 * kUs, 2000 * kUs);
  EXPECT_EQ(Wait(), 1000 * kUs);
}

TEST_F(GroupTimesTest, AGroupThatIsAtWorkDoesNotWait) {
  rank_.Collective(group_, 2000 * kUs, 3000 * kUs, "hcom_allReduce__1_1_1");
  rank_.Collective(group_, 2300 * kUs, 2500 * kUs, "hcom_allReduce__1_2_1");
  Task("Notify_Wait", 2000, 2600, 1);
  EXPECT_EQ(Wait(), 400 * kUs);
}

TEST_F(GroupTimesTest, CapturesOfLevelZeroWaitInTasksOfTheDevice) {
  rank_.trace.communications.connection.back() = 7;
  rank_.Task("NOTIFY_WAIT_SQE", 0, 600 * kUs, 3);
  rank_.trace.device_tasks.connection.back() = 7;
  const OverallMetrics metrics = ComputeOverall(rank_.trace);
  EXPECT_TRUE(metrics.has_waits);
  EXPECT_EQ(metrics.groups.at(0).wait, 600 * kUs);
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
  for (const std::size_t groups : {kMaxGroups, kMaxGroups + 1}) {
    RankBuilder rank;
    for (std::size_t i = 0; i < groups; ++i) {
      rank.Collective(rank.Group("group " + std::to_string(i)), 0, 1000);
    }
    const OverallMetrics metrics = ComputeOverall(rank.trace);
    const bool told = groups == kMaxGroups;
    EXPECT_EQ(metrics.has_too_many_groups, !told);
    EXPECT_EQ(metrics.groups.size(), told ? groups : 0);
    EXPECT_EQ(metrics.group_overlaps.size(), told ? groups * (groups - 1) / 2 : 0);
    EXPECT_EQ(metrics.exposed_communication, 1000);
  }
}

}  // namespace
}  // namespace mpa
