// SPDX-License-Identifier: Apache-2.0
// Ranks that meet in collectives: their clocks, and who came when.
#include "mpa/collectives/instances.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/met_rank.h"
#include "mpa/collectives/arrivals.h"

namespace mpa {
namespace {

using test::kMs;
using test::MetRank;

TEST(CollectiveInstances, ClocksComeFromEndsThatAreOneMoment) {
  MetRank a(0, 0), b(1, 700), c(2, 0);
  for (int i = 0; i < 3; ++i) {
    const TimeNs end = (10 + i * 10) * kMs;
    a.Collective(i, end - 5 * kMs, end);
    b.Collective(i, end - 3 * kMs, end + i);  // 700, 701, 702 behind a
  }
  c.Collective(0, 1, 10 * kMs);  // too few
  const std::vector<RankCollectives> known = {a.Known(), b.Known(), c.Known()};
  const JobCollectives ranks(known.begin(), known.end());
  const RankClocks clocks = AlignClocks(ranks, JoinInstances(ranks));
  ASSERT_EQ(clocks.pairs.size(), 1u);
  EXPECT_EQ(clocks.pairs[0].line.offset, -701);
  EXPECT_EQ(clocks.clocks[0].line.offset, 0);
  EXPECT_EQ(clocks.clocks[1].line.offset, 701);
  EXPECT_FALSE(clocks.clocks[2].known);
}

TEST(CollectiveInstances, OnlyBarriersEndAtOneTime) {
  MetRank a(0, 0), b(1, 0);
  for (int i = 0; i < 4; ++i) {
    a.Collective(i, i * kMs, (i + 1) * kMs, "broadcast");
    b.Collective(i, i * kMs, (i + 1) * kMs, "broadcast");
  }
  const std::vector<RankCollectives> known = {a.Known(), b.Known()};
  const JobCollectives ranks(known.begin(), known.end());
  const CollectiveInstances instances = JoinInstances(ranks);
  EXPECT_EQ(instances.size(), 4u);
  EXPECT_TRUE(AlignClocks(ranks, instances).pairs.empty());
}

TEST(CollectiveInstances, ArrivalsAreOwnStartsOrEndsOfWaits) {
  MetRank a(0, 0), b(1, 40'000);
  for (int i = 0; i < 3; ++i) {
    const TimeNs begin = 100 * kMs * i;
    a.Collective(i, begin, begin + 50 * kMs);
    b.Collective(i, begin + 3 * kMs, begin + 50 * kMs);
    a.Wait(begin + 1, begin + 3 * kMs, 1);
    a.Wait(begin + 1, begin + 40 * kMs, 2);
    b.Wait(begin + 3 * kMs, begin + 40 * kMs + 6000, 2);
  }
  const std::vector<RankCollectives> known = {a.Known(), b.Known()};
  const JobCollectives ranks(known.begin(), known.end());
  const CollectiveInstances instances = JoinInstances(ranks);
  const RankClocks clocks = AlignClocks(ranks, instances);
  ASSERT_EQ(instances.size(), 3u);
  const InstanceArrivals arrivals = ArrivalFinder(ranks, clocks).Of(instances[0]);
  ASSERT_EQ(arrivals.all.size(), 3u);
  const Arrival& last = arrivals.all[2];
  EXPECT_EQ(last.rank, 2) << "as the captured ranks have the numbers of their group";
  EXPECT_EQ(last.source, ArrivalSource::kSeen);
  EXPECT_EQ(last.time, 40 * kMs + 3000) << "between both observers";
  EXPECT_EQ(arrivals.lost, 77 * kMs + 6000);
}

TEST(CollectiveInstances, ObserversThatDisagreeGiveABound) {
  MetRank a(0, 0), b(1, 0);
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
  const std::vector<RankCollectives> known = {a.Known(), b.Known()};
  const JobCollectives ranks(known.begin(), known.end());
  const CollectiveInstances instances = JoinInstances(ranks);
  const RankClocks clocks = AlignClocks(ranks, instances);
  const auto disagreed = std::find_if(
      instances.begin(), instances.end(),
      [](const CollectiveInstance& instance) { return instance.name == "hcom_allReduce__1_0_1"; });
  ASSERT_NE(disagreed, instances.end());
  const InstanceArrivals found = ArrivalFinder(ranks, clocks).Of(*disagreed);
  ASSERT_EQ(found.all.size(), 3u);
  EXPECT_EQ(found.all.back().source, ArrivalSource::kBound);
}

}  // namespace
}  // namespace mpa
