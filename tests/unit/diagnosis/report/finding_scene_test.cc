// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "diagnosis/made_diagnosis.h"
#include "diagnosis/made_ranks.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

using Positions = std::vector<std::size_t>;

struct MadeScene {
  RankDiagnosis part = MadeRank();
  Diagnosis diagnosis = MadeDiagnosis();

  FindingScene Of(std::string_view id, std::vector<RankId> ranks = {}) {
    Finding finding = MadeFinding(id, 8'000'000);
    finding.steps = {};
    finding.ranks = std::move(ranks);
    finding.evidence = {{.rank = 1, .table = "kernels", .name = "TransData"}};
    return SceneOf({{0, &part}, {1, &part}, {2, &part}}, diagnosis, finding);
  }
};

TEST(FindingScene, IsTheStepThatCostsMost) {
  EXPECT_EQ(MadeScene().Of("op.format", {1}).step, 1u);  // converting takes 3 ms there
}

TEST(FindingScene, LeavesWarmUpOut) {
  MadeScene made;
  made.diagnosis.dropped_steps = {8};
  EXPECT_EQ(made.Of("op.format", {1}).step, 0u);
}

TEST(FindingScene, HasAPeerBesideTheCulprits) {
  EXPECT_EQ(MadeScene().Of("op.format", {1}).ranks, (Positions{1, 0}));
  EXPECT_EQ(MadeScene().Of("op.format", {0, 1}).ranks, (Positions{0, 1, 2}));
}

TEST(FindingScene, OfARankThatWasNotCapturedHasThoseThatShowIt) {
  EXPECT_EQ(MadeScene().Of("rank.late", {7}).ranks, (Positions{1, 0}));
}

TEST(FindingScene, NamesOfFilesArePlain) {
  Finding finding = MadeFinding("rank.late", 1);
  finding.key = "rank.late/r5+6/../\x01";
  EXPECT_EQ(TimelineName(finding), "timeline_rank.late_r5+6_..__.json");
  finding.key = std::string(1000, 'x');
  EXPECT_LE(TimelineName(finding).size(), 120u);
}

}  // namespace
}  // namespace mpa
