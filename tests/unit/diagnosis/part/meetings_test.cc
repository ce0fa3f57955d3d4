// SPDX-License-Identifier: Apache-2.0
// Ranks that meet in collectives: their clocks, and who came when.
#include "mpa/diagnosis/part/meetings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "diagnosis/job/arrivals.h"
#include "support/rank_builder.h"

namespace mpa {
namespace {

constexpr TimeNs kMs = 1'000'000;

// A rank whose clock is ahead by so much, and the collectives of a group of three ranks.
class MeetingRank {
 public:
  MeetingRank(std::int64_t rank, TimeNs ahead) : ahead_(ahead) {
    rank_.trace.rank = rank;
    rank_.Group("dp");
  }
  // On the common clock.
  void Collective(int number, TimeNs begin, TimeNs end, const std::string& type = "allReduce") {
    rank_.Collective(0, begin + ahead_, end + ahead_, fmt::format("hcom_{}__1_{}_1", type, number));
  }
  void Wait(TimeNs begin, TimeNs end, std::int32_t peer) {
    rank_.trace.comm_tasks.Append({.start = begin + ahead_,
                                   .dur = end - begin,
                                   .name = rank_.Text("Notify_Wait"),
                                   .group = 0,
                                   .plane = peer,
                                   .own_rank = static_cast<std::int32_t>(rank_.trace.rank),
                                   .peer = peer});
  }
  RankMeetings Meetings() const { return MeetingsOfRank(rank_.trace); }

 private:
  test::RankBuilder rank_;
  TimeNs ahead_;
};

TEST(Meetings, ClocksComeFromEndsThatAreOneMoment) {
  MeetingRank a(0, 0), b(1, 700), c(2, 0);
  for (int i = 0; i < 3; ++i) {
    const TimeNs end = (10 + i * 10) * kMs;
    a.Collective(i, end - 5 * kMs, end);
    b.Collective(i, end - 3 * kMs, end + i);  // 700, 701, 702 behind a
  }
  c.Collective(0, 1, 10 * kMs);  // too few
  const std::vector<RankMeetings> ranks = {a.Meetings(), b.Meetings(), c.Meetings()};
  const RankClocks clocks = AlignClocks(ranks, JoinMeetings(ranks));
  ASSERT_EQ(clocks.pairs.size(), 1u);
  EXPECT_EQ(clocks.pairs[0].line.offset, -701);
  EXPECT_EQ(clocks.clocks[0].line.offset, 0);
  EXPECT_EQ(clocks.clocks[1].line.offset, 701);
  EXPECT_FALSE(clocks.clocks[2].known);
}

TEST(Meetings, OnlyBarriersEndAtOneTime) {
  MeetingRank a(0, 0), b(1, 0);
  for (int i = 0; i < 4; ++i) {
    a.Collective(i, i * kMs, (i + 1) * kMs, "broadcast");
    b.Collective(i, i * kMs, (i + 1) * kMs, "broadcast");
  }
  const std::vector<RankMeetings> ranks = {a.Meetings(), b.Meetings()};
  const Meetings meetings = JoinMeetings(ranks);
  EXPECT_EQ(meetings.all.size(), 4u);
  EXPECT_TRUE(AlignClocks(ranks, meetings).pairs.empty());
}

TEST(Meetings, ArrivalsAreOwnStartsOrEndsOfWaits) {
  MeetingRank a(0, 0), b(1, 40'000);
  for (int i = 0; i < 3; ++i) {
    const TimeNs begin = 100 * kMs * i;
    a.Collective(i, begin, begin + 50 * kMs);
    b.Collective(i, begin + 3 * kMs, begin + 50 * kMs);
    a.Wait(begin + 1, begin + 3 * kMs, 1);
    a.Wait(begin + 1, begin + 40 * kMs, 2);
    b.Wait(begin + 3 * kMs, begin + 40 * kMs + 6000, 2);
  }
  const std::vector<RankMeetings> ranks = {a.Meetings(), b.Meetings()};
  const Meetings meetings = JoinMeetings(ranks);
  const RankClocks clocks = AlignClocks(ranks, meetings);
  const std::vector<MeetingArrivals> arrivals = FindArrivals(ranks, meetings, clocks);
  ASSERT_EQ(arrivals.size(), 3u);
  ASSERT_EQ(arrivals[0].all.size(), 3u);
  const Arrival& last = arrivals[0].all[2];
  EXPECT_EQ(last.rank, 2) << "as the captured ranks have the numbers of their group";
  EXPECT_EQ(last.source, ArrivalSource::kSeen);
  EXPECT_EQ(last.time, 40 * kMs + 3000) << "between both observers";
  EXPECT_EQ(arrivals[0].lost, 77 * kMs + 6000);
}

TEST(Meetings, ObserversThatDisagreeGiveABound) {
  MeetingRank a(0, 0), b(1, 0);
  for (int i = 0; i < 3; ++i) {
    const TimeNs begin = 100 * kMs * i;
    a.Collective(i, begin, begin + 50 * kMs);
    b.Collective(i, begin, begin + 50 * kMs);
    a.Wait(begin + 1, begin + 40 * kMs, 2);
    b.Wait(begin + 1, begin + 30 * kMs, 2);
  }
  for (int i = 3; i < 6; ++i) {  // of these the clocks come
    a.Collective(i, 100 * kMs * i, 100 * kMs * i + kMs, "allGather");
    b.Collective(i, 100 * kMs * i, 100 * kMs * i + kMs, "allGather");
  }
  const std::vector<RankMeetings> ranks = {a.Meetings(), b.Meetings()};
  const Meetings meetings = JoinMeetings(ranks);
  const auto arrivals = FindArrivals(ranks, meetings, AlignClocks(ranks, meetings));
  const auto disagreed =
      std::find_if(meetings.all.begin(), meetings.all.end(),
                   [](const Meeting& meeting) { return meeting.name == "hcom_allReduce__1_0_1"; });
  ASSERT_NE(disagreed, meetings.all.end());
  const auto& found = arrivals[static_cast<std::size_t>(disagreed - meetings.all.begin())];
  ASSERT_EQ(found.all.size(), 3u);
  EXPECT_EQ(found.all.back().source, ArrivalSource::kBound);
}

}  // namespace
}  // namespace mpa
