// SPDX-License-Identifier: Apache-2.0
// Two ranks of one role: which of them is the late one. The gains are worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "collectives/met_rank.h"
#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "support/in_chinese.h"

namespace mpa {
namespace {

constexpr TimeNs kKernelOfPair = 10 * kMs;

// What a step has one rank do longer than the other one.
struct PairStep {
  std::size_t late = 0;
  TimeNs excess = 0;
};

// Two ranks whose work takes 1 ms and the excess. With a `category` of the host it stands before a
// kernel of 10 ms, else it is a kernel. They meet 1 ms after the later one came.
std::vector<RankDiagnosis> PairWithWork(const std::vector<PairStep>& steps, TimeCategory category) {
  std::vector<RankDiagnosis> parts;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    PartBuilder builder;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const TimeNs work = kMs + (steps[i].late == rank ? steps[i].excess : 0);
      builder.Step();
      if (IsCompute(category)) {
        builder.Kernel("Add", work, category);
      } else {
        builder.Host(category, work);
      }
      builder.Kernel("MatMulV3", kKernelOfPair);
      builder.Collective("hcom_allReduce__1_" + std::to_string(i),
                         2 * kMs + steps[i].excess - work);
    }
    parts.push_back(builder.Build());
  }
  return parts;
}

// As many steps of 12 ms in which nobody is late.
std::vector<PairStep> EvenSteps(std::size_t count) { return std::vector<PairStep>(count); }

// Rank 1 is late by 4 ms in the last `late` of `count` steps. A first step that is longer were
// warm-up.
std::vector<PairStep> LastAreLate(std::size_t late, std::size_t count) {
  std::vector<PairStep> steps = EvenSteps(count);
  std::fill_n(steps.rbegin(), late, PairStep{1, 4 * kMs});
  return steps;
}

bool NamesARank(const Diagnosis& diagnosis) {
  return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                     [](const Finding& finding) { return finding.type->id.starts_with("rank."); });
}

TEST(PairCauses, TheHostThatIsSlowerInEachStepIsLate) {
  const Diagnosis diagnosis = DiagnoseJob(PairWithWork(LastAreLate(3, 3), TimeCategory::kPython));
  const Finding* found = FindingWith(diagnosis, "rank.late_host/r1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 4 * kMs);
  EXPECT_EQ(found->ranks, std::vector<RankId>{1});
  EXPECT_EQ(MetricIn(*found, "slower_than_peers"), 5) << "5 ms against 1 ms";
  EXPECT_EQ(FindingWith(diagnosis, "rank.late_host/r0"), nullptr);
}

TEST(PairCauses, TheDeviceThatIsSlowerInEachStepIsLate) {
  const Diagnosis diagnosis = DiagnoseJob(PairWithWork(LastAreLate(3, 3), TimeCategory::kVector));
  const Finding* found = FindingWith(diagnosis, "rank.late_compute/r1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 4 * kMs);
  EXPECT_EQ(found->category, "comp.vector");
}

TEST(PairCauses, OneStepDoesNotSayWhichIsTheOddOne) {
  for (const TimeCategory category : {TimeCategory::kPython, TimeCategory::kVector}) {
    const std::string key =
        category == TimeCategory::kPython ? "rank.late_host/r1" : "rank.late_compute/r1";
    for (const std::size_t count : {1, 5}) {
      std::vector<RankDiagnosis> parts = PairWithWork(LastAreLate(1, count), category);
      EXPECT_FALSE(NamesARank(DiagnoseJob(parts))) << key << ": one of " << count;
      parts.push_back(parts[0]);
      EXPECT_NE(FindingWith(DiagnoseJob(parts), key), nullptr)
          << key << ": a third rank says it, one of " << count;
    }
  }
}

// Adds what the pair saw of three collectives of eight ranks: rank 1 comes `late` after all others
// to the first one, and nobody waits in the others.
void LetMeet(TimeNs late, std::vector<RankDiagnosis>& parts) {
  for (std::size_t rank = 0; rank < 2; ++rank) {
    test::MetRank met(static_cast<std::int64_t>(rank));
    for (int number = 0; number < 3; ++number) {
      const TimeNs begin = number * 20 * kMs, end = begin + late + kMs;
      const TimeNs behind = number == 0 ? late : 0;
      met.Collective(number, begin + (rank == 1 ? behind : 0), end);
      for (std::int32_t peer = 0; peer < 8; ++peer) {
        if (peer == static_cast<std::int32_t>(rank)) continue;
        const TimeNs came = begin + (peer == 1 || rank == 1 ? behind : 0);
        met.Wait(rank == 1 ? begin + behind : begin, came + kUs, peer);
      }
    }
    parts[rank].collectives = met.Known();
  }
}

TEST(PairCauses, InOneStepTheOneThatCameLastIsLate) {
  for (const TimeCategory category : {TimeCategory::kPython, TimeCategory::kVector}) {
    const std::string key =
        category == TimeCategory::kPython ? "rank.late_host/r1" : "rank.late_compute/r1";
    std::vector<RankDiagnosis> parts = PairWithWork(LastAreLate(1, 1), category);
    LetMeet(4 * kMs, parts);
    const Diagnosis diagnosis = DiagnoseJob(parts);
    const Finding* found = FindingWith(diagnosis, key);
    ASSERT_NE(found, nullptr) << key;
    EXPECT_EQ(found->gain, 4 * kMs);
    EXPECT_EQ(found->confidence, Certainty::kMedium);
    EXPECT_EQ(MetricIn(*found, "other_ranks"), 6) << "what the gain rests on";
    parts = PairWithWork(LastAreLate(1, 1), category);
    LetMeet(0, parts);
    EXPECT_FALSE(NamesARank(DiagnoseJob(parts))) << key << ": nobody waited for it";
  }
}

TEST(PairCauses, MostStepsMakeAHabit) {
  for (const TimeCategory category : {TimeCategory::kPython, TimeCategory::kVector}) {
    const std::string key =
        category == TimeCategory::kPython ? "rank.late_host/r1" : "rank.late_compute/r1";
    const Diagnosis most = DiagnoseJob(PairWithWork(LastAreLate(3, 5), category));
    const Finding* found = FindingWith(most, key);
    ASSERT_NE(found, nullptr) << key;
    EXPECT_EQ(found->gain, 2'400 * kUs) << "4 ms in three of five steps";
    EXPECT_FALSE(NamesARank(DiagnoseJob(PairWithWork(LastAreLate(2, 5), category))))
        << key << ": fewer than 0.6 of the steps";
  }
}

TEST(PairCauses, WhoTakeTurnsAreBothWell) {
  const std::vector<PairStep> steps = {{0, 4 * kMs}, {1, 4 * kMs}, {0, 4 * kMs}, {1, 4 * kMs}};
  EXPECT_FALSE(NamesARank(DiagnoseJob(PairWithWork(steps, TimeCategory::kPython))));
  EXPECT_FALSE(NamesARank(DiagnoseJob(PairWithWork(steps, TimeCategory::kVector))));
}

TEST(PairCauses, AMomentIsNotSlower) {
  // 2 ms in one step, and 60 us in the two others: 0.5 % of 12.7 ms is 64 us.
  std::vector<PairStep> steps = {{1, 60 * kUs}, {1, 60 * kUs}, {1, 2 * kMs}};
  EXPECT_FALSE(NamesARank(DiagnoseJob(PairWithWork(steps, TimeCategory::kPython))));
  steps[1].excess = 70 * kUs;
  EXPECT_NE(
      FindingWith(DiagnoseJob(PairWithWork(steps, TimeCategory::kPython)), "rank.late_host/r1"),
      nullptr);
}

TEST(PairCauses, WarmUpDoesNotCount) {
  // The first step takes 16 ms, the others 12 and 13: rank 1 is late in one of the two that count.
  EXPECT_FALSE(NamesARank(
      DiagnoseJob(PairWithWork({{1, 4 * kMs}, {1, kMs}, {1, 0}}, TimeCategory::kPython))));
  const Diagnosis both =
      DiagnoseJob(PairWithWork({{1, 4 * kMs}, {1, kMs}, {1, kMs}}, TimeCategory::kPython));
  const Finding* found = FindingWith(both, "rank.late_host/r1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs);
}

TEST(PairCauses, RulesSayHowManySteps) {
  Thresholds thresholds;
  SetRule("rank", "pair_steps", 1, thresholds);
  EXPECT_NE(
      FindingWith(DiagnoseJob(PairWithWork(LastAreLate(1, 1), TimeCategory::kPython), thresholds),
                  "rank.late_host/r1"),
      nullptr);
  SetRule("rank", "pair_steps", 4, thresholds);
  EXPECT_FALSE(
      NamesARank(DiagnoseJob(PairWithWork(LastAreLate(3, 3), TimeCategory::kPython), thresholds)));
  thresholds = {};
  SetRule("rank", "peers", 3, thresholds);
  EXPECT_FALSE(
      NamesARank(DiagnoseJob(PairWithWork(LastAreLate(3, 3), TimeCategory::kPython), thresholds)))
      << "two ranks are no peers";
}

TEST(PairCauses, LargerBatchesOnOneOfTwo) {
  const auto diagnose = [](std::size_t larger) {
    std::vector<RankDiagnosis> parts;
    for (int rank = 0; rank < 2; ++rank) {
      PartBuilder builder;
      for (std::size_t step = 0; step < 3; ++step) {
        const bool is_larger = rank == 1 && step < larger;
        builder.Step().Kernel("MatMulV3", (is_larger ? 6 : 4) * kMs);
        if (rank == 1) builder.Kind("MatMulV3").shapes = builder.NameOf("96,64");
        builder.Collective("hcom_allReduce__1_" + std::to_string(step), (is_larger ? 1 : 3) * kMs);
      }
      parts.push_back(builder.Build());
    }
    return DiagnoseJob(parts);
  };
  const Diagnosis diagnosis = diagnose(3);
  const Finding* found = FindingWith(diagnosis, "data.imbalance/r1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 2 * kMs);
  EXPECT_EQ(FindingWith(diagnose(1), "data.imbalance/r1"), nullptr) << "in one step";
}

// Two ranks whose device computes for 8 ms, four kernels of 2 ms. In the last `blocked` of three
// steps the host of rank 1 waits for each of the first three before it asks for the next, for which
// it takes 1 ms. That of rank 0 works as long while the device computes.
Diagnosis PairThatBlocks(std::size_t blocked) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 2; ++rank) {
    PartBuilder builder;
    RankDiagnosis& part = builder.Part();
    for (std::size_t step = 0; step < 3; ++step) {
      const bool is_late = step + blocked >= 3, waits = rank == 1 && is_late;
      std::uint32_t host = builder.Step().Last();
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t kernel = builder.Last();
        if (i > 0 && waits) {
          const auto edge = static_cast<std::uint32_t>(part.graph.edges.size());
          builder.Host(TimeCategory::kDispatchOp, kMs);
          LetWaitFor(host, part.graph.edges[edge]);
          part.graph.edges.push_back({builder.Last(), kernel, WaitsFor::kEnd, kMs});
          part.blocked.push_back({.edge = edge + 1,
                                  .category = TimeCategory::kScalarSync,
                                  .step = static_cast<std::int32_t>(step),
                                  .start = builder.Now() - kMs});
          host = builder.Last();
        }
        builder.Kernel("MatMulV3", 2 * kMs);
        if (i > 0 && waits)
          part.graph.edges.push_back({builder.Last(), kernel, WaitsFor::kEnd, 0});  // one stream
      }
      if (!waits)
        part.shares.push_back({.edge = static_cast<std::uint32_t>(part.graph.edges.size() - 1),
                               .category = TimeCategory::kDispatchOp,
                               .time = 3 * kMs});
      builder.Collective("hcom_allReduce__1_" + std::to_string(step),
                         kMs + (is_late && !waits ? 3 * kMs : 0));
    }
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

TEST(PairCauses, WhoWaitsForItsDeviceInEachStepIsLate) {
  const Diagnosis diagnosis = PairThatBlocks(3);
  EXPECT_EQ(diagnosis.step, 12 * kMs);
  const Finding* found = FindingWith(diagnosis, "rank.late_host/r1/sync");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 3 * kMs) << "the host works while the device computes";
  EXPECT_EQ(FindingWith(PairThatBlocks(1), "rank.late_host/r1/sync"), nullptr) << "in one step";
}

// --- Small stages of a pipeline ---

// `stages` stages of `per_stage` ranks. In the last `late` of `steps` steps rank 1 works 5 ms
// before a kernel of 10 ms, `category`, and the others wait for it.
std::vector<RankDiagnosis> SmallStages(std::size_t stages, std::size_t per_stage,
                                       TimeCategory category, std::size_t late, std::size_t steps) {
  std::vector<RankDiagnosis> parts;
  for (std::size_t rank = 0; rank < stages * per_stage; ++rank) {
    PartBuilder builder;
    for (std::size_t step = 0; step < steps; ++step) {
      const bool is_late = step + late >= steps;
      builder.Step();
      if (rank == 1 && is_late) builder.Host(category, 5 * kMs);
      builder.Kernel("MatMulV3", 10 * kMs)
          .Collective("hcom_allReduce__1_" + std::to_string(step),
                      kMs + (rank != 1 && is_late ? 5 * kMs : 0));
    }
    std::vector<RankId> stage_ranks;
    for (std::size_t stage = 0; stage < stages; ++stage)
      stage_ranks.push_back(static_cast<std::int64_t>(rank % per_stage + stage * per_stage));
    builder.Part().collectives.groups = {{"p", "pp", stage_ranks}};
    parts.push_back(builder.Build());
  }
  return parts;
}

TEST(PairCauses, FourRanksOfTwoStagesShowWhoCompilesInOneStep) {
  for (const auto& [category, key] :
       {std::pair(TimeCategory::kCompile, "rank.late_host/r1/compile"),
        std::pair(TimeCategory::kMemory, "rank.late_host/r1/memory")}) {
    const Diagnosis diagnosis = DiagnoseJob(SmallStages(2, 2, category, 1, 3));
    const Finding* found = FindingWith(diagnosis, key);
    ASSERT_NE(found, nullptr) << key;
    EXPECT_EQ(found->gain, 5 * kMs / 3) << key;
  }
  EXPECT_FALSE(NamesARank(DiagnoseJob(SmallStages(2, 2, TimeCategory::kPython, 1, 3))))
      << "stages call for other work: two ranks, one step";
}

TEST(PairCauses, RulesSayHowManyRanksOfStagesAreCompared) {
  Thresholds thresholds;
  for (const double peers : {3.0, 4.0}) {
    SetRule("rank", "peers", peers, thresholds);
    EXPECT_NE(FindingWith(DiagnoseJob(SmallStages(2, 2, TimeCategory::kCompile, 1, 3), thresholds),
                          "rank.late_host/r1/compile"),
              nullptr)
        << peers;
  }
  SetRule("rank", "peers", 5, thresholds);
  EXPECT_FALSE(
      NamesARank(DiagnoseJob(SmallStages(2, 2, TimeCategory::kCompile, 1, 3), thresholds)));
}

TEST(PairCauses, TwoStagesOfOneRankNeedSteps) {
  EXPECT_FALSE(NamesARank(DiagnoseJob(SmallStages(2, 1, TimeCategory::kCompile, 1, 1))));
  EXPECT_FALSE(NamesARank(DiagnoseJob(SmallStages(2, 1, TimeCategory::kCompile, 1, 3))));
  EXPECT_NE(FindingWith(DiagnoseJob(SmallStages(2, 1, TimeCategory::kCompile, 3, 3)),
                        "rank.late_host/r1/compile"),
            nullptr);
}

// --- What of late ranks was not judged ---

std::vector<std::string> LateNotJudgedOf(const Diagnosis& diagnosis) {
  std::vector<std::string> ids;
  for (const NotJudged& row : diagnosis.not_judged) {
    if (row.type->id.starts_with("rank.")) ids.emplace_back(row.type->id);
  }
  return ids;
}

const std::vector<std::string>& LateRanks() {
  static const std::vector<std::string> ids = {"rank.late_compute", "rank.late_host",
                                               "rank.late_input"};
  return ids;
}

TEST(PairCauses, TwoRanksAreJudgedByTwoSteps) {
  EXPECT_TRUE(
      LateNotJudgedOf(DiagnoseJob(PairWithWork(EvenSteps(2), TimeCategory::kPython))).empty());
  EXPECT_EQ(LateNotJudgedOf(DiagnoseJob(PairWithWork(EvenSteps(1), TimeCategory::kPython))),
            LateRanks());
  EXPECT_EQ(LateNotJudgedOf(DiagnoseJob({PairWithWork(EvenSteps(2), TimeCategory::kPython)[0]})),
            LateRanks())
      << "one rank has no peers";
  Thresholds thresholds;
  SetRule("rank", "pair_steps", 3, thresholds);
  EXPECT_EQ(
      LateNotJudgedOf(DiagnoseJob(PairWithWork(EvenSteps(2), TimeCategory::kPython), thresholds)),
      LateRanks());
  thresholds = {};
  SetRule("rank", "peers", 3, thresholds);
  EXPECT_EQ(
      LateNotJudgedOf(DiagnoseJob(PairWithWork(EvenSteps(2), TimeCategory::kPython), thresholds)),
      LateRanks());
}

TEST(PairCauses, OnlyStepsThatCountJudgeTwoRanks) {
  // Of three steps the first is warm-up.
  Thresholds thresholds;
  SetRule("rank", "pair_steps", 3, thresholds);
  EXPECT_TRUE(
      LateNotJudgedOf(DiagnoseJob(PairWithWork(EvenSteps(3), TimeCategory::kPython), thresholds))
          .empty());
  EXPECT_EQ(LateNotJudgedOf(DiagnoseJob(PairWithWork({{1, 4 * kMs}, {}, {}}, TimeCategory::kPython),
                                        thresholds)),
            LateRanks());
}

TEST(PairCauses, ThreeRanksAreJudgedByOneStep) {
  std::vector<RankDiagnosis> parts = PairWithWork(EvenSteps(1), TimeCategory::kPython);
  parts.push_back(parts[0]);
  EXPECT_TRUE(LateNotJudgedOf(DiagnoseJob(parts)).empty());
}

TEST(PairCauses, FewerRanksThanTheRuleWantsAreNotJudged) {
  std::vector<RankDiagnosis> parts = PairWithWork(EvenSteps(3), TimeCategory::kPython);
  parts.push_back(parts[0]);
  Thresholds thresholds;
  SetRule("rank", "peers", 4, thresholds);
  EXPECT_EQ(LateNotJudgedOf(DiagnoseJob(parts, thresholds)), LateRanks());
  parts.push_back(parts[0]);
  EXPECT_TRUE(LateNotJudgedOf(DiagnoseJob(parts, thresholds)).empty());
}

TEST(PairCauses, WhatIsFoundWasJudged) {
  const std::vector<std::string> others = {"rank.late_compute", "rank.late_input"};
  EXPECT_EQ(LateNotJudgedOf(DiagnoseJob(SmallStages(2, 1, TimeCategory::kCompile, 3, 3))), others);
}

TEST(PairCauses, StagesOfOneRankHaveNoPeers) {
  std::vector<RankDiagnosis> parts = PairWithWork(EvenSteps(3), TimeCategory::kPython);
  for (RankDiagnosis& part : parts) part.collectives.groups = {{"p", "pp", {0, 1}}};
  EXPECT_EQ(LateNotJudgedOf(DiagnoseJob(parts)), LateRanks());
}

// Two ranks meet in each of two steps. Of another group, whose names have no number, rank 1 has one
// operation of two.
Diagnosis WithLostOperations() {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 2; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 2; ++step) {
      builder.Step()
          .Kernel("MatMulV3", kMs)
          .Collective("hcom_allReduce__1_" + std::to_string(step), kMs);
      if (rank == 0 || step == 0) builder.Collective("reduce", kMs, "allreduce", "h");
    }
    parts.push_back(builder.Build());
  }
  return DiagnoseJob(parts);
}

TEST(PairCauses, WhatWasNotJudgedIsSaidInChinese) {
  for (const Diagnosis& diagnosis :
       {DiagnoseJob(PairWithWork(EvenSteps(1), TimeCategory::kPython)), WithLostOperations()}) {
    EXPECT_EQ(LateNotJudgedOf(diagnosis), LateRanks());
    for (const NotJudged& row : diagnosis.not_judged) {
      if (!row.type->id.starts_with("rank.")) continue;
      for (const std::string_view text : {row.needs, row.hint}) EXPECT_TRUE(HasChinese(text));
    }
  }
}

}  // namespace
}  // namespace mpa
