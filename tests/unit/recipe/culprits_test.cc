// SPDX-License-Identifier: Apache-2.0
// Who holds up a job, by the accounts of its ranks. The costs are worked out by hand.
#include "mpa/recipe/culprits.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "collectives/met_rank.h"

namespace mpa {
namespace {

using test::kMs;
using test::MetRank;

// A rank of so many steps of 100 ms: what it computes, how long its device is free, and
// communication in the rest.
RankLoad EqualSteps(TimeNs computing, TimeNs free, std::int32_t count = 1) {
  RankLoad load;
  for (std::int32_t step = 0; step < count; ++step) {
    load.steps.push_back({.step = step,
                          .length = 100 * kMs,
                          .computing = computing,
                          .communication = 100 * kMs - computing - free,
                          .free = free});
  }
  return load;
}

JobVerdict Judge(const std::vector<RankLoad>& loads) {
  std::vector<LoadedRank> ranks;
  for (std::size_t i = 0; i < loads.size(); ++i)
    ranks.push_back({static_cast<std::int64_t>(i), loads[i]});
  return JudgeLoads(ranks, {});
}

std::string FirstLine(const JobVerdict& verdict) {
  ScreenLines lines;
  AddVerdictLines(verdict, lines);
  std::string text;
  for (const ScreenLine& line : lines) text += line.Text();
  return text;
}

TEST(Culprits, OneOfEightThatComputesLongerIsNamed) {
  std::vector<RankLoad> loads(8, EqualSteps(50 * kMs, 10 * kMs));
  loads[6] = EqualSteps(65 * kMs, 10 * kMs);
  const JobVerdict verdict = Judge(loads);
  ASSERT_EQ(verdict.culprits.size(), 1U) << "that it waits less is no news of its own";
  const Culprit& found = verdict.culprits[0];
  EXPECT_EQ(found.ranks, std::vector<RankId>{6});
  EXPECT_EQ(found.part, LatePart::kComputing);
  EXPECT_EQ(found.cost, 15 * kMs) << "the others communicate 40 ms, it does 25 ms";
  EXPECT_EQ(FirstLine(verdict),
            "rank 6 holds up the others: it computes 65.0 ms a step, they 50.0 (+30 %); they"
            "  wait 15.0 of 100.0 ms for it");
}

TEST(Culprits, TheKindOfWorkIsNamed) {
  std::vector<RankLoad> loads(4, EqualSteps(50 * kMs, 10 * kMs));
  loads[1] = EqualSteps(65 * kMs, 10 * kMs);
  for (RankLoad& load : loads) {
    load.steps[0].kinds.assign(kTimeCategories, 0);
    load.steps[0].kinds[static_cast<std::size_t>(TimeCategory::kVector)] = 20 * kMs;
    load.steps[0].kinds[static_cast<std::size_t>(TimeCategory::kMatmul)] =
        load.steps[0].computing - 20 * kMs;
  }
  const JobVerdict verdict = Judge(loads);
  ASSERT_EQ(verdict.culprits.size(), 1U);
  EXPECT_EQ(verdict.culprits[0].kind, TitleOf(TimeCategory::kMatmul));
}

TEST(Culprits, ADeviceThatIsFreeIsThePartThatMakesItOne) {
  std::vector<RankLoad> loads(4, EqualSteps(50 * kMs, 10 * kMs));
  loads[2] = EqualSteps(50 * kMs, 30 * kMs);
  const JobVerdict verdict = Judge(loads);
  ASSERT_EQ(verdict.culprits.size(), 1U);
  EXPECT_EQ(verdict.culprits[0].part, LatePart::kFree);
  EXPECT_EQ(verdict.culprits[0].own, 30 * kMs);
  EXPECT_EQ(verdict.culprits[0].usual, 10 * kMs);
  EXPECT_EQ(verdict.culprits[0].cost, 20 * kMs);
}

TEST(Culprits, ASlowHalfIsOneCulprit) {
  std::vector<RankLoad> loads(8, EqualSteps(50 * kMs, 10 * kMs));
  for (std::size_t rank = 4; rank < 8; ++rank) loads[rank] = EqualSteps(60 * kMs, 10 * kMs);
  const JobVerdict verdict = Judge(loads);
  ASSERT_EQ(verdict.culprits.size(), 1U);
  EXPECT_EQ(verdict.culprits[0].ranks, (std::vector<RankId>{4, 5, 6, 7}));
  EXPECT_EQ(verdict.culprits[0].cost, 10 * kMs);
}

// 20,000 ranks, a tenth of them slow: 400 million pairs, if each looked at all others. Each lists a
// group of half of the job.
TEST(Culprits, LargeJobsTakeNoTime) {
  std::vector<RankLoad> loads;
  std::vector<RankId> slow;
  std::array<RankSequence, 2> halves;
  for (std::int64_t rank = 0; rank < 20'000; ++rank) halves[rank % 2].push_back(rank);
  for (std::int64_t rank = 0; rank < 20'000; ++rank) {
    const bool is_slow = rank % 10 == 3;
    loads.push_back(EqualSteps((is_slow ? 60 : 50) * kMs, 10 * kMs));
    loads.back().collectives.groups = {{std::to_string(rank % 2), "dp", halves[rank % 2]}};
    if (is_slow) slow.push_back(rank);
  }
  const JobVerdict verdict = Judge(loads);
  ASSERT_EQ(verdict.culprits.size(), 1U);
  EXPECT_EQ(verdict.culprits[0].ranks, slow);
  EXPECT_EQ(verdict.culprits[0].cost, 10 * kMs);
  EXPECT_EQ(verdict.lateness.of_job, 20'000U);
}

TEST(Culprits, WhatCostsLessThanAHundredthIsNothing) {
  std::vector<RankLoad> loads(4, EqualSteps(50 * kMs, 10 * kMs));
  loads[0] = EqualSteps(50'900'000, 10 * kMs);
  EXPECT_TRUE(Judge(loads).culprits.empty());
  EXPECT_EQ(FirstLine(Judge(loads)), "no rank holds up the others by 1 % of the step");
  loads[0] = EqualSteps(51'100'000, 10 * kMs);
  EXPECT_EQ(Judge(loads).culprits.size(), 1U);
}

TEST(Culprits, WorkForWhichNobodyWaitsHoldsUpNobody) {
  std::vector<RankLoad> loads(4, EqualSteps(50 * kMs, 10 * kMs));
  loads[3] = EqualSteps(70 * kMs, 10 * kMs);
  loads[3].steps[0].length += 20 * kMs;
  loads[3].steps[0].communication = 40 * kMs;
  EXPECT_TRUE(Judge(loads).culprits.empty());
}

TEST(Culprits, WhatCostsMostComesFirst) {
  std::vector<RankLoad> loads(8, EqualSteps(50 * kMs, 10 * kMs));
  loads[1] = EqualSteps(55 * kMs, 10 * kMs);
  loads[5] = EqualSteps(50 * kMs, 40 * kMs);
  const JobVerdict verdict = Judge(loads);
  ASSERT_EQ(verdict.culprits.size(), 2U);
  EXPECT_EQ(verdict.culprits[0].ranks, std::vector<RankId>{5});
  EXPECT_EQ(verdict.culprits[1].ranks, std::vector<RankId>{1});
}

TEST(Culprits, StagesDoDifferentWork) {
  std::vector<RankLoad> loads(4, EqualSteps(30 * kMs, 10 * kMs));
  loads[2] = loads[3] = EqualSteps(50 * kMs, 10 * kMs);
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    RankLoad& load = loads[static_cast<std::size_t>(rank)];
    load.collectives.groups = {{"p", "pp", {rank % 2, rank % 2 + 2}}};
    load.kernels = {{"MatMul", 100}, {"Add", 40}};
  }
  EXPECT_TRUE(Judge(loads).culprits.empty()) << "as many kernels: the last one has the head";
  for (const std::size_t rank : {2U, 3U}) loads[rank].kernels = {{"MatMul", 150}, {"Add", 60}};
  const JobVerdict verdict = Judge(loads);
  ASSERT_EQ(verdict.culprits.size(), 1U);
  EXPECT_EQ(verdict.culprits[0].part, LatePart::kStage);
  EXPECT_EQ(verdict.culprits[0].ranks, (std::vector<RankId>{2, 3}));
  EXPECT_EQ(verdict.culprits[0].cost, 10 * kMs) << "50 ms, and 40 ms at the mean";
}

// Two of four ranks were captured; rank 3 was not, and comes 60 ms after all others.
TEST(Culprits, WhoWasNotCapturedIsNamedByTheWaitsOfOthers) {
  std::vector<RankLoad> loads;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    MetRank met(rank);
    for (int number = 0; number < 3; ++number) {
      const TimeNs begin = number * 100 * kMs;
      met.Collective(number, begin, begin + 70 * kMs);
      met.Wait(begin, begin + 60 * kMs, 3);
      met.Wait(begin, begin + kMs, 1 - static_cast<std::int32_t>(rank));
      met.Wait(begin, begin + kMs, 2);
    }
    RankLoad load = EqualSteps(20 * kMs, 10 * kMs);
    load.steps[0].waiting = 60 * kMs;
    load.collectives = met.Known();
    loads.push_back(std::move(load));
  }
  const JobVerdict verdict = Judge(loads);
  ASSERT_EQ(verdict.culprits.size(), 1U);
  EXPECT_EQ(verdict.culprits[0].part, LatePart::kUnknown);
  EXPECT_EQ(FirstLine(verdict),
            "most of the step is waiting for rank 3 (not captured): 60.0 of 100.0 ms");
}

// Of four ranks each is linked to each, and moves 10 MB in 1 ms; from 1 to 3 in 2.5 ms.
TEST(SlowLinks, TheLinkIsNamedWithItsSpeedAndCost) {
  const std::vector<JobGroup> groups = {{"g", "dp", {0, 1, 2, 3}}};
  std::vector<std::vector<LinkSum>> sums(4);
  std::vector<RankLinks> ranks;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    for (std::int32_t peer = 0; peer < 4; ++peer) {
      if (peer == rank) continue;
      LinkSum& sum = sums[static_cast<std::size_t>(rank)].emplace_back();
      const bool slow = rank + peer == 4 && rank != peer && rank % 2 == 1;
      sum.group = "g";
      sum.transport = "SDMA";
      sum.kind = "HCCS";
      sum.peer = peer;
      sum.all = {2, 20'000'000, slow ? 5 * kMs : 2 * kMs};
      sum.lead = slow ? 3 * kMs : 0;
    }
  }
  for (std::int64_t rank = 0; rank < 4; ++rank)
    ranks.push_back({rank, sums[static_cast<std::size_t>(rank)], groups, 2});
  const LinkSpeedsOfJob found = FindSlowLinks(ranks);
  EXPECT_EQ(found.links, 6U);
  ASSERT_EQ(found.slow.size(), 1U);
  EXPECT_EQ(found.slow[0].cost, 1'500'000) << "3 ms in two steps";
  EXPECT_EQ(SlowLinkText(found.slow[0]),
            "rank 1 to 3 (HCCS) 4.0 GB/s, the others 10.0; costs 1.500 ms a step");
}

}  // namespace
}  // namespace mpa
