// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/causes/evidence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "diagnosis/made_diagnosis.h"
#include "diagnosis/made_ranks.h"

namespace mpa {
namespace {

Diagnosis DiagnosisOf(std::string_view id) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding(id, 8'000'000)};
  diagnosis.findings[0].steps = {};
  return diagnosis;
}

TEST(Evidence, KernelsOfTheLeafStandLongestFirst) {
  const RankDiagnosis part = MadeRank();
  Diagnosis diagnosis = DiagnosisOf("op.format");
  FindEvidence({{0, &part}}, diagnosis);
  const auto& places = diagnosis.findings[0].evidence;
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].name, "TransData");
  EXPECT_EQ(places[0].source, "kernel_details.csv");
  EXPECT_EQ(places[0].capture, "/job/rank_ascend_pt");
  EXPECT_EQ(places[0].start, 15'000'000);  // 4 ms behind the begin of the second step at 11 ms
  EXPECT_EQ(places[0].dur, 3'000'000);
  EXPECT_EQ(places[1].dur, 1'000'000);
}

TEST(Evidence, GarbageCollectionsAreThoseOfTheirTable) {
  RankDiagnosis part = MadeRank();
  part.analyzers.collected = {{3'000'000, 1'500'000}, {12'000'000, 2'500'000}};  // one in each step
  Diagnosis diagnosis = DiagnosisOf("host.gc");
  diagnosis.findings[0].steps = {8};
  FindEvidence({{0, &part}}, diagnosis);
  const auto& places = diagnosis.findings[0].evidence;
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].table, "garbage_collections");
  EXPECT_EQ(places[0].start, 12'000'000);
  EXPECT_EQ(places[0].dur, 2'500'000);
}

TEST(Evidence, OfManyPlacesTheLongestAreKeptAndOfEqualOnesTheFirst) {
  RankDiagnosis part = MadeRank();
  // Collections of 90 lengths, five or six of each: the ninth or tenth length is cut.
  for (TimeNs i = 0; i < 500; ++i)
    part.analyzers.collected.push_back({3'000'000 + i, 2'000 + i * 37 % 90});
  Diagnosis diagnosis = DiagnosisOf("host.gc");
  FindEvidence({{0, &part}}, diagnosis);
  const auto& places = diagnosis.findings[0].evidence;
  ASSERT_EQ(places.size(), 50u);
  std::vector<CollectedRow> longest = part.analyzers.collected;
  std::stable_sort(longest.begin(), longest.end(),
                   [](const CollectedRow& a, const CollectedRow& b) { return a.dur > b.dur; });
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(places[i].dur, longest[i].dur) << i;
    EXPECT_EQ(places[i].start, longest[i].start) << i;
  }
}

TEST(Evidence, LayersOfAStageAreWhatOtherStagesRunToo) {
  const RankDiagnosis heavy = MadeRank();
  RankDiagnosis other = MadeRank();
  other.names[2] = "Embedding";  // so the heavy stage alone converts layouts
  Diagnosis diagnosis = DiagnosisOf("pp.stage_imbalance");
  diagnosis.findings[0].ranks = {0};
  FindEvidence({{0, &heavy}, {1, &other}}, diagnosis);
  const auto& places = diagnosis.findings[0].evidence;
  ASSERT_EQ(places.size(), 2u);
  for (const Evidence& place : places) EXPECT_EQ(place.name, "MatMulV2");
}

TEST(Evidence, OnlyStepsThatShowIt) {
  const RankDiagnosis part = MadeRank();
  Diagnosis diagnosis = DiagnosisOf("op.format");
  diagnosis.findings[0].steps = {7};
  FindEvidence({{0, &part}}, diagnosis);
  ASSERT_EQ(diagnosis.findings[0].evidence.size(), 1u);
  EXPECT_EQ(diagnosis.findings[0].evidence[0].start, 5'000'000);
}

TEST(Evidence, OnlyRanksThatShowIt) {
  const RankDiagnosis part = MadeRank();
  Diagnosis diagnosis = DiagnosisOf("host.sync");
  diagnosis.findings[0].ranks = {1};
  FindEvidence({{0, &part}, {1, &part}}, diagnosis);
  const auto& places = diagnosis.findings[0].evidence;
  ASSERT_EQ(places.size(), 2u);  // one call in each step
  for (const Evidence& place : places) {
    EXPECT_EQ(place.rank, 1);
    EXPECT_EQ(place.name, "aclrtSynchronizeStream");
    EXPECT_EQ(place.table, "host_calls");
  }
}

TEST(Evidence, CallsHaveTheLineOfTheProgram) {
  RankDiagnosis part = MadeRank();
  part.names.push_back("train.py:90");
  part.blocked[1].line = static_cast<NameId>(part.names.size() - 1);
  part.blocked[1].dur += 1;  // the longer one
  Diagnosis diagnosis = DiagnosisOf("host.sync");
  FindEvidence({{0, &part}}, diagnosis);
  ASSERT_EQ(diagnosis.findings[0].evidence.size(), 2u);
  EXPECT_EQ(diagnosis.findings[0].evidence[0].line, "train.py:90");
  EXPECT_EQ(diagnosis.findings[0].evidence[1].line, "");
}

TEST(Evidence, DatabasesNameTheirTables) {
  RankDiagnosis part = MadeRank();
  part.source = "database";
  Diagnosis diagnosis = DiagnosisOf("host.sync");
  FindEvidence({{0, &part}}, diagnosis);
  ASSERT_FALSE(diagnosis.findings[0].evidence.empty());
  EXPECT_EQ(diagnosis.findings[0].evidence[0].table, "CANN_API");
}

}  // namespace
}  // namespace mpa
