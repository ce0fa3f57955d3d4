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
using Ranks = std::vector<RankId>;

Lateness LatenessOf(const std::vector<RankCollectives>& known) {
  return FindLateness(JobCollectives(known.begin(), known.end()), {});
}

Lines LinesOf(const Lateness& lateness) {
  ScreenLines lines;
  AddLatenessLines(lateness, 8, lines);
  return TextsOf(lines);
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
  EXPECT_EQ(LinesOf(LatenessOf(known)),
            (Lines{"2 of 8 ranks captured", "3 collectives: it is unknown which rank came last"}));
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

// Ranks 0 and 1 have one clock, ranks 2 and 3 another one, 7 s ahead. All four meet once, where
// rank 3 is the last by 20 ms: what the two clocks have in common is that end.
TEST(Lateness, ClocksOfRanksThatHardlyMeetAreNotOne) {
  std::vector<RankCollectives> known;
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    MetRank met(rank, rank < 2 ? 0 : 7000 * kMs);
    for (int i = 0; i < 3; ++i)
      met.Collective(rank < 2 ? i : 10 + i, 100 * kMs * i, 100 * kMs * i + 50 * kMs);
    met.Collective(20, 1000 * kMs + (rank == 3 ? 20 * kMs : 0), 1030 * kMs);
    known.push_back(met.Known());
    for (RankRuns::Row& row : known.back().runs.rows) row.group_ranks = 2;
    known.back().runs.rows.back().group_ranks = 4;
  }
  const Lateness lateness = LatenessOf(known);
  ASSERT_EQ(lateness.ranks.size(), 1u);
  EXPECT_EQ(lateness.ranks[0].ranks, Ranks{3});
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
                   "3 collectives: it is unknown which rank came last",
                   "the clocks of ranks 1 and 2 contradict each other by 300.0 us:",
                   "  a rank that is late by less cannot be identified"}));
}

// The collectives of eight ranks of DLRM on GPUs: begins and durations in us, as their traces
// record them. Rank 7 comes last to the first five, by 505, 509.5, 162.5, 124 and 9 us once the
// clocks are compared by the ends, which differ by 1.5 us at most; then rank 5 twice, by 52 and 49,
// and rank 4 by 14.
TEST(Lateness, RanksOfAGpuJobAreMatchedInTheirOrder) {
  using Runs = std::vector<std::pair<TimeNs, TimeNs>>;
  const std::vector<Runs> of_ranks = {{{9795, 2146},
                                       {13686, 1032},
                                       {14943, 176},
                                       {15120, 131},
                                       {16304, 246},
                                       {17789, 514},
                                       {18305, 601},
                                       {19384, 952}},
                                      {{4306, 7635},
                                       {13693, 1025},
                                       {14949, 169},
                                       {15120, 132},
                                       {16240, 307},
                                       {17758, 545},
                                       {18304, 601},
                                       {19411, 922}},
                                      {{11422, 518},
                                       {14201, 517},
                                       {14946, 173},
                                       {15120, 131},
                                       {16347, 198},
                                       {17834, 468},
                                       {18333, 572},
                                       {19423, 915}},
                                      {{5808, 6132},
                                       {13695, 1021},
                                       {14944, 174},
                                       {15119, 133},
                                       {16255, 291},
                                       {17759, 542},
                                       {18303, 602},
                                       {19452, 879}},
                                      {{7058, 4882},
                                       {13609, 1108},
                                       {14948, 170},
                                       {15120, 132},
                                       {16454, 95},
                                       {18240, 61},
                                       {18838, 70},
                                       {20269, 69}},
                                      {{7261, 4679},
                                       {13657, 1060},
                                       {14943, 175},
                                       {15119, 132},
                                       {16451, 96},
                                       {18292, 10},
                                       {18887, 20},
                                       {20255, 79}},
                                      {{11425, 514},
                                       {14198, 520},
                                       {14943, 175},
                                       {15119, 131},
                                       {16336, 213},
                                       {17817, 483},
                                       {18308, 602},
                                       {19418, 920}},
                                      {{11930, 10},
                                       {14710, 8},
                                       {15111, 7},
                                       {15244, 7},
                                       {16463, 86},
                                       {17944, 357},
                                       {18439, 468},
                                       {19531, 803}}};
  std::vector<RankCollectives> known;
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    test::RankBuilder built(DeviceKind::kGpu);
    built.trace.rank = static_cast<std::int64_t>(rank);
    for (std::size_t i = 0; i < of_ranks[rank].size(); ++i) {
      const bool reduces = i == 4 || i > 5;
      const TimeNs start = 1000 * of_ranks[rank][i].first;
      built.Collective(-1, start, start + 1000 * of_ranks[rank][i].second,
                       reduces ? "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)"
                               : "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)");
    }
    known.push_back(CollectivesOfRank(built.trace));
    known.back().longest_step = 20 * kMs;  // of which 2 % matter in those that are not the last
  }
  const Lateness lateness = LatenessOf(known);
  EXPECT_EQ(lateness.known, 8u);
  EXPECT_FALSE(lateness.IsPartial());
  ASSERT_EQ(lateness.ranks.size(), 5u);
  EXPECT_EQ(lateness.ranks[0].ranks, Ranks{7});
  EXPECT_EQ(lateness.ranks[0].times, 5u);
  EXPECT_EQ(lateness.ranks[0].sum, 1'310'000);
  EXPECT_EQ(lateness.ranks[0].most, 509'500);
  EXPECT_EQ(lateness.ranks[1].ranks, Ranks{5});
  EXPECT_EQ(lateness.ranks[1].as_last, 101'000);
  EXPECT_EQ(lateness.ranks[1].sum, 825'000) << "724 us before rank 4 comes to the last one";
  EXPECT_EQ(lateness.ranks[2].ranks, Ranks{4});
  EXPECT_EQ(lateness.ranks[2].as_last, 14'000);
  // Late, too, but before rank 7.
  EXPECT_EQ(lateness.ranks[3].ranks, Ranks{0});
  EXPECT_EQ(lateness.ranks[3].sum, 2'533'000);
  EXPECT_EQ(lateness.ranks[4].ranks, (Ranks{2, 6}));
  EXPECT_EQ(lateness.ranks[4].sum, 1'631'000 + 505'000);
  EXPECT_EQ(LinesOf(lateness)[1], "  rank 7 arrived 509.5 us after the second-to-last rank");
}

// All ranks were captured: rank 2 is the last by 20 ms, and rank 1 comes 30 ms after the others.
TEST(Lateness, CapturedRanksHaveACostEach) {
  std::vector<RankCollectives> known;
  for (std::int64_t rank = 0; rank < 5; ++rank) {
    MetRank met(rank);
    const TimeNs late = rank == 1 ? 30 * kMs : rank == 2 ? 50 * kMs : 0;
    for (int i = 0; i < 3; ++i) met.Collective(i, 100 * kMs * i + late, 100 * kMs * i + 60 * kMs);
    known.push_back(met.Known());
  }
  const Lateness lateness = LatenessOf(known);
  ASSERT_EQ(lateness.ranks.size(), 2u);
  EXPECT_EQ(lateness.ranks[0].ranks, Ranks{2});
  EXPECT_EQ(lateness.ranks[0].sum, 3 * 20 * kMs);
  EXPECT_EQ(lateness.ranks[1].ranks, Ranks{1});
  EXPECT_EQ(lateness.ranks[1].sum, 3 * 30 * kMs);
  EXPECT_EQ(lateness.ranks[1].as_last, 0);
}

TEST(Lateness, NamesAFewOfManyRanks) {
  AbsentRanks absent;
  EXPECT_EQ(LateRanksText({}, false, absent), "a rank that was not captured");
  EXPECT_EQ(LateRanksText({5}, false, absent), "rank 5 (not captured)");
  EXPECT_EQ(LateRanksText({0, 1, 2, 3, 4, 5, 6}, true, absent), "ranks 0-6");
  EXPECT_EQ(CoverageText(2, 8, absent), "2 of 8 ranks captured");
  EXPECT_EQ(CoverageText(8, 8, absent), "");
  absent.Add(5, RankState::kDamaged);
  EXPECT_EQ(LateRanksText({5}, false, absent), "rank 5 (damaged)");
  EXPECT_EQ(CoverageText(7, 8, absent), "7 of 8 ranks read (1 damaged)");
}

}  // namespace
}  // namespace mpa
