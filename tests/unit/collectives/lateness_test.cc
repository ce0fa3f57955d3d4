// SPDX-License-Identifier: Apache-2.0
// Who was late. Expectations are worked out by hand from the times in each test.
#include "mpa/collectives/lateness.h"

#include <gtest/gtest.h>

#include "collectives/met_rank.h"

namespace mpa {
namespace {

using test::kMs;
using test::MetRank;
using Lines = std::vector<std::string>;
using Ranks = std::vector<std::int64_t>;

Lateness LatenessOf(const std::vector<RankCollectives>& known) {
  return FindLateness(JobCollectives(known.begin(), known.end()));
}

Lines LinesOf(const Lateness& lateness) {
  Lines lines;
  AddLatenessLines(lateness, 8, lines);
  return lines;
}

// Two of eight ranks meet the others four times. To the first one come rank 7 at 28 ms and rank 4
// at 80 ms; otherwise all come at once.
std::vector<RankCollectives> TwoOfEight() {
  std::vector<RankCollectives> known;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    MetRank met(rank, 1000 * rank);
    for (int i = 0; i < 4; ++i) {
      const TimeNs begin = 200 * kMs * i;
      const TimeNs late = i == 0 ? 80 * kMs : kMs;
      met.Collective(i, begin, begin + late + kMs);
      for (std::int32_t peer = 2; peer < 8; ++peer) {
        TimeNs came = begin + 20;
        if (i == 0 && peer == 4) came = begin + 80 * kMs;
        if (i == 0 && peer == 7) came = begin + 28 * kMs;
        met.Wait(begin + 10, came, peer);
      }
    }
    known.push_back(met.Known());
  }
  return known;
}

TEST(Lateness, TwoRanksThatWereNotCapturedHaveACostEach) {
  const Lateness lateness = LatenessOf(TwoOfEight());
  EXPECT_EQ(lateness.captured, 2u);
  EXPECT_EQ(lateness.of_job, 8u);
  EXPECT_EQ(lateness.known, 4u);
  ASSERT_EQ(lateness.ranks.size(), 2u);
  EXPECT_EQ(lateness.ranks[0].ranks, Ranks{4});
  EXPECT_EQ(lateness.ranks[0].sum, 52 * kMs);
  EXPECT_EQ(lateness.ranks[1].ranks, Ranks{7});
  EXPECT_EQ(lateness.ranks[1].sum, 28 * kMs);
  EXPECT_EQ(LinesOf(lateness),
            (Lines{"2 of 8 ranks captured", "late ranks in 4 collectives:",
                   "  rank 4 (not captured) arrived 52.00 ms after the second-to-last rank",
                   "    hcom_allReduce__1_0_1",
                   "  rank 7 (not captured) arrived 28.00 ms after the ranks before it",
                   "    hcom_allReduce__1_0_1"}));
}

// Without waits nobody saw whether the others came later than the captured rank 1.
TEST(Lateness, ACapturedRankIsNotBlamedWhereOthersMayBeLater) {
  std::vector<RankCollectives> known;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    MetRank met(rank);
    for (int i = 0; i < 3; ++i)
      met.Collective(i, 100 * kMs * i + 5 * kMs * rank, 100 * kMs * i + 50 * kMs);
    known.push_back(met.Known());
    known.back().groups = {{"dp", "dp", {0, 1, 2, 3, 4, 5, 6, 7}}};
  }
  EXPECT_EQ(
      LinesOf(LatenessOf(known)),
      (Lines{"2 of 8 ranks captured", "3 collectives: which rank came last cannot be known"}));
  for (RankCollectives& rank : known) rank.groups = {{"dp", "dp", {0, 1}}};
  EXPECT_EQ(LinesOf(LatenessOf(known)),
            (Lines{"late ranks in 3 collectives:",
                   "  rank 1 arrived 5.000 ms after the second-to-last rank",
                   "    hcom_allReduce__1_0_1; 15.00 ms late in 3 collectives"}));
}

// Too few collectives for clocks: the ends are one moment. The second clock is 7 s ahead.
TEST(Lateness, OneCollectiveIsComparedByItsEnd) {
  MetRank a(0), b(1, 7000 * kMs);
  a.Collective(0, 0, 30 * kMs);
  b.Collective(0, 20 * kMs, 30 * kMs);
  std::vector<RankCollectives> known = {a.Known(), b.Known()};
  for (RankCollectives& rank : known) rank.groups = {{"dp", "dp", {0, 1}}};
  const Lateness lateness = LatenessOf(known);
  ASSERT_EQ(lateness.ranks.size(), 1u);
  EXPECT_EQ(lateness.ranks[0].ranks, Ranks{1});
  EXPECT_TRUE(lateness.ranks[0].captured);
  EXPECT_EQ(lateness.ranks[0].sum, 20 * kMs);
}

// Ranks 0 and 1 meet, 0 and 2, then 1 and 2, where the clock of rank 2 is 300 us beyond what the
// others say. Rank 1 comes 100 us after rank 2 to the last group, rank 0 2 ms after rank 1.
TEST(Lateness, ClocksThatContradictEachOtherAreSaid) {
  const auto meet = [](MetRank& rank, int first, TimeNs late, TimeNs ahead = 0) {
    for (int i = first; i < first + 3; ++i)
      rank.Collective(i, 100 * kMs * i + late + ahead, 100 * kMs * i + 50 * kMs + ahead);
  };
  MetRank a(0), b(1), c(2);
  meet(a, 0, 2 * kMs);
  meet(b, 0, 0);
  meet(a, 10, 0);
  meet(c, 10, 0);
  meet(b, 20, 100'000);
  meet(c, 20, 0, 300'000);
  std::vector<RankCollectives> known = {a.Known(), b.Known(), c.Known()};
  for (RankCollectives& rank : known) {
    for (RankRuns::Row& row : rank.runs.rows) row.group_ranks = 2;
  }
  const Lateness lateness = LatenessOf(known);
  ASSERT_EQ(lateness.doubts.size(), 1u);
  EXPECT_EQ(LinesOf(lateness),
            (Lines{"late ranks in 6 collectives:",
                   "  rank 0 arrived 2.000 ms after the second-to-last rank",
                   "    hcom_allReduce__1_0_1; 6.000 ms late in 3 collectives",
                   "3 collectives: which rank came last cannot be known",
                   "the clocks of ranks 1 and 2 contradict each other by 300.0 us:",
                   "  which rank is late by less cannot be known"}));
}

}  // namespace
}  // namespace mpa
