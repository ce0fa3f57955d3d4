// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "diagnosis/made_diagnosis.h"
#include "diagnosis/made_ranks.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

using TimelineJson = nlohmann::json;

struct MadeTimeline {
  RankDiagnosis part = MadeRank();
  Diagnosis diagnosis = MadeDiagnosis();

  TimelineJson Of(std::string_view id, std::vector<std::int64_t> ranks = {}) {
    diagnosis.findings = {MadeFinding(id, 8'000'000)};
    diagnosis.findings[0].steps = {};
    diagnosis.findings[0].ranks = std::move(ranks);
    const std::vector<DiagnosedRank> all = {{0, &part}, {1, &part}};
    // As its finding shows it: the longest of the kernels.
    FoundCause& finding = diagnosis.findings[0];
    finding.evidence.clear();
    for (const std::int64_t rank : {0, 1}) {
      if (!finding.ranks.empty() && finding.ranks[0] != rank) continue;
      finding.evidence.push_back({.rank = rank,
                                  .table = "kernels",
                                  .name = "TransData",
                                  .start = 15'000'000,
                                  .dur = 3'000'000});
    }
    return TimelineJson::parse(TimelineOf(all, diagnosis, diagnosis.findings[0]));
  }
};

std::vector<TimelineJson> SlicesOf(const TimelineJson& trace, int rank) {
  std::vector<TimelineJson> slices;
  for (const TimelineJson& event : trace["traceEvents"]) {
    if (event["ph"] == "X" && event["pid"] == rank) slices.push_back(event);
  }
  return slices;
}

TEST(Timeline, ShowsTheStepThatCostsMost) {
  MadeTimeline made;
  const TimelineJson trace = made.Of("op.format", {1});
  // The second step, in which converting takes 3 ms: step, two kernels, and where the finding
  // shows.
  const auto slices = SlicesOf(trace, 1);
  ASSERT_EQ(slices.size(), 4u);
  EXPECT_EQ(slices[0]["name"], "step 8");
  EXPECT_EQ(slices[0]["ts"], 0.0);
  EXPECT_EQ(slices[0]["dur"], 10'000.0);
  EXPECT_EQ(slices[1]["name"], "MatMulV2");
  EXPECT_EQ(slices[2]["name"], "TransData");
  EXPECT_EQ(slices[2]["ts"], 4'000.0);
  EXPECT_EQ(slices[2]["dur"], 3'000.0);
  EXPECT_EQ(slices[2]["args"]["start_ns"], 15'000'000);
  EXPECT_EQ(slices[3]["name"], "TransData");
}

TEST(Timeline, ShowsAPeerBesideTheCulprit) {
  MadeTimeline made;
  const TimelineJson trace = made.Of("op.format", {1});
  EXPECT_EQ(SlicesOf(trace, 0).size(), 3u);  // without places
  std::set<std::string> names;
  for (const TimelineJson& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") names.insert(event["args"]["name"].get<std::string>());
  }
  EXPECT_EQ(names, (std::set<std::string>{"rank 0", "rank 1 (finding)"}));
}

TEST(Timeline, EverySliceHasARowWithAName) {
  MadeTimeline made;
  const TimelineJson trace = made.Of("host.sync");
  std::set<std::pair<int, int>> rows;
  for (const TimelineJson& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name")
      rows.insert({event["pid"].get<int>(), event["tid"].get<int>()});
  }
  for (const TimelineJson& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    EXPECT_TRUE(rows.contains({event["pid"].get<int>(), event["tid"].get<int>()})) << event;
    EXPECT_GE(event["dur"].get<double>(), 0) << event;
  }
}

TEST(Timeline, LeavesWarmUpOut) {
  MadeTimeline made;
  made.diagnosis.dropped_steps = {8};
  EXPECT_EQ(SlicesOf(made.Of("op.format", {1}), 1)[0]["name"], "step 7");
}

TEST(Timeline, NamesOfFilesArePlain) {
  FoundCause finding = MadeFinding("rank.late", 1);
  finding.key = "rank.late/r5+6/../\x01";
  EXPECT_EQ(TimelineName(finding), "timeline_rank.late_r5+6_..__.json");
  finding.key = std::string(1000, 'x');
  EXPECT_LE(TimelineName(finding).size(), 120u);
}

}  // namespace
}  // namespace mpa
