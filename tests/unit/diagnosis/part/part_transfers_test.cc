// SPDX-License-Identifier: Apache-2.0
// What the transfers of a collective take. The times are worked out by hand.
#include <gtest/gtest.h>

#include <map>
#include <unordered_map>

#include "diagnosis/part/part_facts.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

class PartTransfersTest : public ::testing::Test {
 protected:
  PartTransfersTest() { rank_.Collective(group_, 0, 1000); }

  void Send(std::int64_t peer, TimeNs start, TimeNs end, const char* name = "RDMASend",
            const char* transport = "RDMA") {
    rank_.CommTask(group_, 0, name, start, end);
    CommTasks& tasks = rank_.trace.comm_tasks;
    tasks.own_rank.back() = 0;
    tasks.peer.back() = static_cast<std::int32_t>(peer);
    tasks.bytes.back() = 4096;
    tasks.transport.back() = rank_.trace.strings.Intern(transport);
    tasks.rdma_type.Stored().back() = rank_.trace.strings.Intern("RDMA_SEND_PAYLOAD");
  }

  // By peer.
  std::map<std::int64_t, TimeNs> Times() {
    part_ = {};
    part_.operations.resize(1);
    PartNames names(part_.names);
    AddTransfers(rank_.trace, {{0, 0}}, names, part_);
    std::map<std::int64_t, TimeNs> times;
    for (const PeerTransfer& transfer : part_.transfers) times[transfer.peer] += transfer.all.time;
    return times;
  }

  test::RankBuilder rank_;
  const std::int32_t group_ = rank_.Group("world");
  RankDiagnosis part_;
};

using TimesByPeer = std::map<std::int64_t, TimeNs>;

TEST_F(PartTransfersTest, APortServesOneAfterTheOther) {
  // All are posted at once and end in turn.
  Send(1, 100, 200);
  Send(2, 100, 300);
  Send(3, 100, 400);
  EXPECT_EQ(Times(), (TimesByPeer{{1, 100}, {2, 100}, {3, 100}}));
  EXPECT_EQ(part_.operations[0].port_time, 300);
}

TEST_F(PartTransfersTest, ASlowOneInTheQueueKeepsItsTime) {
  Send(1, 100, 200);
  Send(2, 100, 600);
  Send(3, 100, 700);
  EXPECT_EQ(Times(), (TimesByPeer{{1, 100}, {2, 400}, {3, 100}}));
}

TEST_F(PartTransfersTest, AGapThatNobodyElseFillsIsOfTheLongOne) {
  Send(1, 100, 200);
  Send(2, 300, 400);
  Send(3, 50, 500);
  EXPECT_EQ(Times(), (TimesByPeer{{1, 100}, {2, 100}, {3, 250}}));
  EXPECT_EQ(part_.operations[0].port_time, 450) << "from 50 to 500";
}

TEST_F(PartTransfersTest, TheLastInALongQueueIsNotALongTask) {
  for (std::int64_t peer = 1; peer <= 30; ++peer) Send(peer, 100, 100 + 100 * peer);
  Times();
  EXPECT_TRUE(part_.long_tasks.empty());
  Send(31, 100, 5100);  // 2000 behind the others, each of which takes 100
  Times();
  ASSERT_EQ(part_.long_tasks.size(), 1u);
  EXPECT_EQ(part_.long_tasks[0].peer, 31);
  EXPECT_EQ(part_.long_tasks[0].dur, 2000);
  EXPECT_EQ(part_.long_tasks[0].usual, 100);
}

TEST_F(PartTransfersTest, CardsMoveSideBySide) {
  Send(1, 100, 200, "Memcpy", "SDMA");
  Send(2, 100, 300, "Memcpy", "SDMA");
  EXPECT_EQ(Times(), (TimesByPeer{{1, 100}, {2, 200}}));
  EXPECT_EQ(part_.operations[0].port_time, 0);
}

}  // namespace
}  // namespace mpa
