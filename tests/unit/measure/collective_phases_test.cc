// SPDX-License-Identifier: Apache-2.0
// How the time of a collective divides into waiting for the last member, transfers and the rest.
#include "mpa/measure/collective_phases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;

std::string Text(const std::vector<CollectivePhase>& phases) {
  std::string text;
  for (const CollectivePhase& phase : phases) {
    text += fmt::format("{}-{} {}; ", phase.begin, phase.end, NameOf(phase.category));
  }
  return text;
}

// A collective of 100 us with two transfers and a wait behind the arrival at 60 us.
const std::vector<CollectivePart> kParts = {{0, 2'000, 60'000, true, 3},
                                            {0, 60'000, 70'000, false, 3},
                                            {0, 65'000, 80'000, false, 2},
                                            {0, 75'000, 90'000, true, 2}};

TEST(CollectivePhases, FollowTheArrivalOfTheLastMember) {
  EXPECT_EQ(Text(PhasesOf({0, 100'000}, {true, 60'000, 3}, kParts, false, 5000, 0)),
            "0-60000 comm.wait_peer; 60000-80000 comm.transfer; 80000-90000 comm.inner_wait;"
            " 90000-100000 comm.inner_idle; ");
}

TEST(CollectivePhases, OfAReceiveStartWithTheBubble) {
  EXPECT_EQ(Text(PhasesOf({0, 100'000}, {true, 60'000, 3}, {}, true, 5000, 0)),
            "0-60000 comm.bubble; 60000-100000 comm.transfer; ");
}

TEST(CollectivePhases, WhoComesWithinTheToleranceWasLast) {
  EXPECT_EQ(Text(PhasesOf({0, 100'000}, {true, 5000, 3}, {}, false, 5000, 0)),
            "0-100000 comm.transfer; ");
  EXPECT_EQ(Text(PhasesOf({0, 100'000}, {true, 5001, 3}, {}, false, 5000, 0)),
            "0-5001 comm.wait_peer; 5001-100000 comm.transfer; ");
}

TEST(CollectivePhases, ArrivalsOutsideOfTheOperationAreCutToIt) {
  EXPECT_EQ(Text(PhasesOf({0, 100'000}, {true, 200'000, 3}, kParts, false, 5000, 0)),
            "0-100000 comm.wait_peer; ");
  EXPECT_EQ(Text(PhasesOf({50, 100}, {true, 0, 3}, {}, false, 0, 0)), "50-100 comm.transfer; ");
}

TEST(CollectivePhases, TheLastPartIsTheCostOfASlowLink) {
  EXPECT_EQ(Text(PhasesOf({0, 100'000}, {true, 60'000, 3}, kParts, false, 5000, 25'000)),
            "0-60000 comm.wait_peer; 60000-75000 comm.transfer; 75000-100000 comm.slow; ");
  EXPECT_EQ(Text(PhasesOf({0, 100'000}, {true, 60'000, 3}, kParts, false, 5000, 90'000)),
            "0-60000 comm.wait_peer; 60000-100000 comm.slow; ");
}

TEST(CollectivePhases, AreNotDividedWithoutAnArrival) {
  EXPECT_EQ(Text(PhasesOf({0, 100'000}, {}, {}, false, 5000, 0)), "0-100000 comm.unsplit; ");
  EXPECT_EQ(Text(PhasesOf({7, 7}, {}, {}, false, 5000, 0)), "");
}

class CollectivePartsTest : public ::testing::Test {
 protected:
  void Task(std::string_view name, TimeNs begin, TimeNs end, std::int32_t peer,
            std::int64_t bytes = 0, std::string_view rdma_type = "") {
    rank_.trace.comm_tasks.Append({.start = begin,
                                   .dur = end - begin,
                                   .name = rank_.Text(name),
                                   .group = 0,
                                   .plane = 0,
                                   .peer = peer,
                                   .bytes = bytes,
                                   .rdma_type = rank_.Text(rdma_type)});
  }
  RankBuilder rank_;
};

TEST_F(CollectivePartsTest, AreWaitsAndTransfersOfBytes) {
  rank_.Collective(rank_.Group("dp"), 0, 100'000);
  Task("Memcpy", 10, 20, 0, 64);
  Task("Notify_Record", 20, 21, 3);
  Task("Notify_Wait", 22, 90, 3);
  Task("Memcpy", 90, 95, 3, 0);
  Task("RDMASend", 91, 92, 3, 4, "RDMA_SEND_NOTIFY");
  Task("RDMASend", 92, 96, 3, 4, "RDMA_SEND_PAYLOAD");
  Task("RDMASend", 93, 97, 3, 4);
  Task("RDMASend", 94, 98, 3, 4096);
  const CollectiveParts parts(rank_.trace);
  std::string text;
  for (const CollectivePart& part : parts.Of(0)) {
    text += fmt::format("{} {}-{} ", part.waits ? "wait" : "transfer", part.begin, part.end);
  }
  EXPECT_EQ(text, "transfer 10-20 wait 22-90 transfer 92-96 transfer 94-98 ");
}

// Databases say of which operation a task is, whenever it ran.
TEST_F(CollectivePartsTest, WhatRanFarFromTheOperationIsNoPartOfIt) {
  rank_.Collective(rank_.Group("dp"), 100'000, 150'000);
  rank_.trace.communications.op_id = {7};
  for (const TimeNs start : {49'999, 50'000, 110'000, 200'000, 200'001}) {
    Task("Notify_Wait", start, start + 10'000, 3);
    rank_.trace.comm_tasks.op_id.back() = 7;
  }
  const CollectiveParts parts(rank_.trace);
  ASSERT_EQ(parts.Of(0).size(), 3u);  // as far away as the operation is long
  EXPECT_EQ(parts.Of(0)[0].begin, 50'000);
  EXPECT_EQ(parts.Of(0)[2].begin, 200'000);
}

TEST_F(CollectivePartsTest, TheFirstWaitForAPeerTellsItsArrival) {
  rank_.Collective(rank_.Group("dp"), 1000, 100'000);
  Task("Notify_Wait", 1100, 31'100, 2);
  Task("Notify_Wait", 1200, 51'200, 5);
  Task("Notify_Wait", 1300, 3300, 4);  // 2 us: no wait
  Task("Notify_Wait", 60'000, 90'000, 4);
  const CollectiveParts parts(rank_.trace);
  const std::vector<SeenPeer> seen = FindSeenPeers(rank_.trace, parts);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(std::tuple(seen[0].peer, seen[0].time, seen[0].waited), std::tuple(2, 31'100, true));
  EXPECT_EQ(std::tuple(seen[1].peer, seen[1].time, seen[1].waited), std::tuple(4, 1000, false));
  EXPECT_EQ(std::tuple(seen[2].peer, seen[2].time, seen[2].waited), std::tuple(5, 51'200, true));
  const LastArrival last = OwnLastArrivals(rank_.trace, parts).at(0);
  EXPECT_EQ(std::tuple(last.known, last.time, last.peer), std::tuple(true, 51'200, 5));
}

TEST_F(CollectivePartsTest, WhoNeverWaitsWasLast) {
  rank_.Collective(rank_.Group("dp"), 1000, 100'000);
  Task("Notify_Wait", 1100, 1120, 2);
  Task("Memcpy", 2000, 9000, 2, 100);
  const LastArrival last = OwnLastArrivals(rank_.trace, CollectiveParts(rank_.trace)).at(0);
  EXPECT_EQ(std::tuple(last.known, last.time, last.peer), std::tuple(true, 1000, -1));
}

// Level0: tasks have neither names nor peers, the types of the device's tasks tell them apart.
TEST_F(CollectivePartsTest, WithoutNamesComeFromTheTasksOfTheDevice) {
  rank_.Collective(rank_.Group("dp"), 1000, 100'000);
  rank_.trace.communications.connection[0] = 77;
  const auto task = [&](std::string_view type, TimeNs begin, TimeNs end, std::int64_t connection) {
    rank_.Task(type, begin, end, 4);
    rank_.trace.device_tasks.connection.back() = connection;
  };
  task("SDMA", 1000, 1010, 77);         // on the device, before all met
  task("Notify Wait", 1100, 1120, 77);  // no wait
  task("Notify Wait", 1200, 41'200, 77);
  task("Notify Wait", 1300, 8000, 77);
  task("SDMA", 41'300, 50'000, 77);
  task("Notify Wait", 50'000, 60'000, 77);  // within the operation
  task("Notify Wait", 0, 99'000, 78);       // of another call
  const CollectiveParts parts(rank_.trace);
  EXPECT_EQ(parts.Of(0).size(), 6u);
  const LastArrival last = OwnLastArrivals(rank_.trace, parts).at(0);
  EXPECT_EQ(std::tuple(last.known, last.time, last.peer), std::tuple(true, 41'200, -1));
}

TEST_F(CollectivePartsTest, NothingIsKnownWithoutTasks) {
  rank_.Collective(rank_.Group("dp"), 1000, 100'000);
  EXPECT_FALSE(OwnLastArrivals(rank_.trace, CollectiveParts(rank_.trace)).at(0).known);
}

}  // namespace
}  // namespace mpa
