// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "mpa/diagnosis/job/steps.h"
#include "mpa/diagnosis/report/finding_text.h"

namespace mpa {
namespace {

using StepIds = std::vector<std::int32_t>;

// A rank with these steps of 12 ms; `late`: its host works 5 ms in each of them before a kernel of
// 10 ms.
RankDiagnosis RankWithSteps(const StepIds& ids, bool late = false) {
  PartBuilder builder;
  for (const std::int32_t id : ids) {
    builder.Step();
    if (late) builder.Host(TimeCategory::kPython, 5 * kMs);
    builder.Kernel("MatMulV3", 10 * kMs)
        .Collective("all_" + std::to_string(id), (late ? 1 : 6) * kMs);
    builder.Part().steps.back().id = id;
  }
  return builder.Build();
}

struct Kept {
  std::vector<RankId> ranks, left_out;
  StepIds steps, not_on_all;
  bool operator==(const Kept&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Kept& kept) {
  return out << ::testing::PrintToString(kept.ranks) << ::testing::PrintToString(kept.left_out)
             << ::testing::PrintToString(kept.steps) << ::testing::PrintToString(kept.not_on_all);
}

Kept KeptOf(const std::vector<StepIds>& steps) {
  std::vector<RankDiagnosis> parts;
  for (const StepIds& ids : steps) parts.push_back(RankWithSteps(ids));
  std::vector<DiagnosedRank> ranks;
  for (std::size_t i = 0; i < parts.size(); ++i)
    ranks.push_back({static_cast<std::int64_t>(i), &parts[i]});
  const CommonSteps common = FindCommonSteps(ranks);
  Kept kept{{}, common.left_out, {}, common.not_on_all};
  for (const DiagnosedRank& rank : common.ranks) {
    kept.ranks.push_back(rank.rank);
    StepIds own;
    for (const StepPart& step : rank.part->steps) own.push_back(step.id);
    EXPECT_TRUE(kept.steps.empty() || kept.steps == own);
    kept.steps = own;
  }
  return kept;
}

TEST(CommonSteps, EqualRanksStayAsTheyAre) {
  EXPECT_EQ(KeptOf({{10, 11}, {10, 11}}), (Kept{{0, 1}, {}, {10, 11}, {}}));
  EXPECT_EQ(KeptOf({{10, 10}, {10, 10}}), (Kept{{0, 1}, {}, {10, 10}, {}}))
      << "a program may count anew";
  EXPECT_EQ(KeptOf({{}, {}}), (Kept{{0, 1}, {}, {}, {}}));
}

TEST(CommonSteps, AStepThatOneRankLacksIsNotCompared) {
  EXPECT_EQ(KeptOf({{11, 12}, {10, 11, 12}, {10, 11, 12}}), (Kept{{0, 1, 2}, {}, {11, 12}, {10}}));
  EXPECT_EQ(KeptOf({{10, 11, 13, 14, 15}, {10, 11, 12, 13, 14, 15}, {10, 11, 12, 13, 14, 15}}),
            (Kept{{0, 1, 2}, {}, {13, 14, 15}, {10, 11, 12}}))
      << "the longer row";
  EXPECT_EQ(KeptOf({{10, 11}, {11, 12}}), (Kept{{0, 1}, {}, {11}, {10, 12}}));
}

TEST(CommonSteps, ARankWithoutMostOfThemIsLeftOut) {
  EXPECT_EQ(KeptOf({{-1}, {10, 11, 12}, {10, 11, 12}}), (Kept{{1, 2}, {0}, {10, 11, 12}, {}}));
  EXPECT_EQ(KeptOf({{10, 11, 12}, {12}, {10, 11, 12}}), (Kept{{0, 2}, {1}, {10, 11, 12}, {}}));
  EXPECT_EQ(KeptOf({{10}, {20, 21}}), (Kept{{1}, {0}, {20, 21}, {10}}));
}

TEST(CommonSteps, WithoutStepsInCommonTheRankWithTheMostStays) {
  EXPECT_EQ(KeptOf({{10, 11}, {12, 13}}), (Kept{{0}, {1}, {10, 11}, {12, 13}}));
  EXPECT_EQ(KeptOf({{1, 2}, {2, 3}, {1, 3}}), (Kept{{0}, {1, 2}, {1, 2}, {3}}));
}

TEST(CommonSteps, ABrokenRankDoesNotHideTheLateOne) {
  const std::vector<RankDiagnosis> parts = {RankWithSteps({-1}), RankWithSteps({10, 11, 12}, true),
                                            RankWithSteps({10, 11, 12}),
                                            RankWithSteps({10, 11, 12})};
  const Diagnosis diagnosis = DiagnoseJob(parts);
  const Finding* found = FindingWith(diagnosis, "rank.late_host/r1");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 5 * kMs);
  EXPECT_EQ(diagnosis.ranks, (std::vector<RankId>{0, 1, 2, 3})) << "it was captured";
  EXPECT_EQ(diagnosis.accounting.size(), 10u) << "and has its account";
  EXPECT_EQ(NotesOf(diagnosis),
            std::vector<std::string>{"ranks left out of all comparisons because their captures"
                                     " break off or lack the steps of the others: 0"});
}

TEST(CommonSteps, ACaptureThatBreaksOffIsNotCompared) {
  std::vector<RankDiagnosis> parts = {RankWithSteps({10, 11}), RankWithSteps({10, 11}),
                                      RankWithSteps({10, 11})};
  const auto left_out = [&] {
    return FindCommonSteps({{0, &parts[0]}, {1, &parts[1]}, {2, &parts[2]}}).left_out;
  };
  parts[1].breaks_off = true;
  EXPECT_EQ(left_out(), std::vector<RankId>{1});
  for (RankDiagnosis& part : parts) part.breaks_off = true;
  EXPECT_TRUE(left_out().empty()) << "there is nothing better";
}

TEST(CommonSteps, StepsBelongTogetherByTheirNumber) {
  // Rank 0 lacks the mark of step 10; by position its steps would be one too early.
  RankDiagnosis without = RankWithSteps({10, 11, 12});
  without.steps.erase(without.steps.begin());
  without.graph.last.erase(without.graph.last.begin());
  for (GraphNode& node : without.graph.nodes) --node.step;
  for (OperationPart& operation : without.operations) --operation.step;
  const Diagnosis diagnosis =
      DiagnoseJob({without, RankWithSteps({10, 11, 12}, true), RankWithSteps({10, 11, 12})});
  EXPECT_EQ(diagnosis.step, 16 * kMs);
  EXPECT_EQ(diagnosis.steps, (StepIds{11, 12}));
  ASSERT_NE(FindingWith(diagnosis, "rank.late_host/r1"), nullptr);
  EXPECT_EQ(FindingWith(diagnosis, "rank.late_host/r1")->gain, 5 * kMs);
}

}  // namespace
}  // namespace mpa
