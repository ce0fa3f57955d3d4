// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "diagnosis/part_builder.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

// A share of the host and where it was spent.
void AddPlace(PartBuilder& builder, std::string_view name, std::string_view line, TimeNs time,
              std::uint32_t count = 1, TimeNs start = 0) {
  HostPlace place;
  place.share = static_cast<std::uint32_t>(builder.Part().shares.size() - 1);
  place.name = builder.NameOf(name);
  place.line = builder.NameOf(line);
  place.count = count;
  place.time = time;
  place.longest = time / count;
  place.start = start;
  builder.Part().places.push_back(place);
}

// Two steps: 4 ms of a matmul, then layouts of 1 and 3 ms.
PartBuilder TwoSteps() {
  PartBuilder builder;
  builder.Part().source = "text";
  builder.Part().capture = "/job/rank_ascend_pt";
  for (const TimeNs convert : {1 * kMs, 3 * kMs}) {
    builder.Step().Host(TimeCategory::kDispatchOp, kMs).Kernel("MatMulV2", 4 * kMs);
    builder.Kernel("TransData", convert, TimeCategory::kFormat);
  }
  return builder;
}

class EvidenceTest : public ::testing::Test {
 protected:
  void MakeJobOf(std::vector<RankDiagnosis> parts) {
    parts_ = std::move(parts);
    std::vector<DiagnosedRank> ranks;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      ranks.push_back({static_cast<std::int64_t>(i), &parts_[i]});
    job_ = MakeJob(std::move(ranks), {});
  }
  std::vector<Evidence> Find(const FindingType& info, const WhatIf& what_if,
                             const std::vector<TimeCategory>& about,
                             std::vector<RankId> ranks = {}) {
    Finding finding;
    finding.type = &info;
    finding.ranks = std::move(ranks);
    EvidenceFinder(job_).Find(what_if, about, finding);
    return finding.evidence;
  }
  // All kernels of a category, for a share of their time.
  WhatIf WithoutKernels(TimeCategory category, double share = 1) const {
    WhatIf what_if;
    for (std::size_t rank = 0; rank < parts_.size(); ++rank) {
      const auto& nodes = parts_[rank].graph.nodes;
      for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].kind == NodeKind::kKernel && nodes[i].category == category)
          what_if.expect.durations.push_back(
              {job_.graph.first_node[rank] + i, ShareOf(nodes[i].dur, share)});
      }
    }
    return what_if;
  }

  std::vector<RankDiagnosis> parts_;
  Job job_;
};

TEST_F(EvidenceTest, KernelsOfANameAreOnePlaceWithTheirOwnTime) {
  MakeJobOf({TwoSteps().Build()});
  // What a fix is likely to take is a part of it; the place has all of its time.
  const auto places =
      Find(kOpFormat, WithoutKernels(TimeCategory::kFormat, 0.7), {TimeCategory::kFormat});
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].name, "TransData");
  EXPECT_EQ(places[0].source, "kernel_details.csv");
  EXPECT_EQ(places[0].capture, "/job/rank_ascend_pt");
  EXPECT_EQ(places[0].calls, 1) << "one a step";
  EXPECT_EQ(places[0].time, 2 * kMs) << "(1 + 3) / 2";
  EXPECT_EQ(places[0].of_all, 2 * kMs);
  EXPECT_EQ(places[0].dur, 3 * kMs) << "the longest";
}

TEST_F(EvidenceTest, ThePlaceWithMostTimeIsFirstNotTheOneWithTheLongestEvent) {
  PartBuilder builder = TwoSteps();
  builder.Step().Host(TimeCategory::kPython, 9 * kMs).Kernel("MatMulV2", kMs);
  AddPlace(builder, "main.py(10): once", "main.py:10", 2 * kMs);
  AddPlace(builder, "main.py(20): often", "main.py:20", 6 * kMs, 12, 77);
  MakeJobOf({builder.Build()});
  WhatIf what_if;
  const HostShare& share = parts_[0].shares.back();
  what_if.expect.waits.push_back({job_.graph.first_edge[0] + share.edge, share.time / 2});
  what_if.bound.waits.push_back({job_.graph.first_edge[0] + share.edge, share.time});
  const auto places = Find(kHostPython, what_if, {TimeCategory::kPython});
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].name, "main.py(20): often");
  EXPECT_EQ(places[0].line, "main.py:20");
  EXPECT_EQ(places[0].time, 2 * kMs) << "6 ms in three steps";
  EXPECT_EQ(places[0].calls, 4);
  EXPECT_EQ(places[0].start, 77);
  EXPECT_EQ(places[0].dur, kMs / 2);
  EXPECT_EQ(places[0].of_all, 3 * kMs) << "9 ms, of which 1 ms has no place";
  EXPECT_EQ(places[1].time, 2 * kMs / 3);
}

// The old search took everything of a class, whether the fix takes it out or not.
TEST_F(EvidenceTest, WhatTheFixLeavesIsNoPlace) {
  PartBuilder builder = TwoSteps();
  builder.Step().Host(TimeCategory::kDispatchOp, 8 * kMs).Kernel("MatMulV2", kMs);
  AddPlace(builder, "aten::stalls", "", 8 * kMs);
  builder.Host(TimeCategory::kDispatchOp, kMs).Kernel("MatMulV2", kMs);
  AddPlace(builder, "aten::usual", "", kMs);
  MakeJobOf({builder.Build()});
  WhatIf what_if;
  const HostShare& stall = parts_[0].shares[parts_[0].shares.size() - 2];
  what_if.expect.waits.push_back({job_.graph.first_edge[0] + stall.edge, 7 * kMs});
  const auto places = Find(kHostLaunchBound, what_if, {TimeCategory::kDispatchOp});
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].name, "aten::stalls");
}

TEST_F(EvidenceTest, OfSeveralSharesOnAnEdgeItIsTheOneOfTheClass) {
  PartBuilder builder = TwoSteps();
  builder.Step().Host(TimeCategory::kPython, 4 * kMs);
  AddPlace(builder, "frame", "", 4 * kMs);
  HostShare other = builder.Part().shares.back();
  other.category = TimeCategory::kMemory;
  builder.Part().shares.push_back(other);
  AddPlace(builder, "cudaMalloc", "", 4 * kMs);
  builder.Kernel("MatMulV2", kMs);
  MakeJobOf({builder.Build()});
  WhatIf what_if;
  what_if.expect.waits.push_back({job_.graph.first_edge[0] + other.edge, other.time});
  const auto places = Find(kHostMemory, what_if, {TimeCategory::kMemory});
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].name, "cudaMalloc");
}

TEST_F(EvidenceTest, GarbageCollectionsAreThoseOfTheirTable) {
  PartBuilder builder = TwoSteps();
  builder.Step().Host(TimeCategory::kGarbage, 3 * kMs).Kernel("MatMulV2", kMs);
  AddPlace(builder, "garbage collection", "", 3 * kMs, 1, 12);
  MakeJobOf({builder.Build()});
  WhatIf what_if;
  what_if.expect.waits.push_back(
      {job_.graph.first_edge[0] + parts_[0].shares.back().edge, 3 * kMs});
  const auto places = Find(kHostGc, what_if, {TimeCategory::kGarbage});
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].table, "garbage_collections");
  EXPECT_EQ(places[0].start, 12);
}

TEST_F(EvidenceTest, OnlyRanksThatShowIt) {
  MakeJobOf({TwoSteps().Build(), TwoSteps().Build()});
  const auto places =
      Find(kOpFormat, WithoutKernels(TimeCategory::kFormat), {TimeCategory::kFormat}, {1});
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].rank, 1);
}

// What a rank does beyond its peers is its finding, not all that it does.
TEST_F(EvidenceTest, OfALateRankItIsTheExcess) {
  MakeJobOf({TwoSteps().Build()});
  const auto places = Find(kRankLateCompute, WithoutKernels(TimeCategory::kMatmul, 0.25), {}, {0});
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].name, "MatMulV2");
  EXPECT_EQ(places[0].time, kMs);
  EXPECT_EQ(places[0].dur, 4 * kMs);
}

// Two calls of an operator on one line are a place; a call that waits for two streams is one call.
TEST_F(EvidenceTest, CallsHaveTheLineOfTheProgram) {
  PartBuilder builder = TwoSteps();
  const std::uint32_t edge = 0;
  const NameId call = builder.NameOf("aclrtSynchronizeStream"), op = builder.NameOf("aten::item");
  const auto block = [&](std::int32_t step, TimeNs start, TimeNs dur, std::string_view line) {
    builder.Part().blocked.push_back(
        {edge, TimeCategory::kScalarSync, call, op, step, start, dur, false, builder.NameOf(line)});
  };
  block(0, 100, 2 * kMs, "train.py:90");
  block(0, 100, 2 * kMs, "train.py:90");
  block(1, 200, 4 * kMs, "train.py:90");
  block(1, 300, 1 * kMs, "train.py:95");
  RankDiagnosis part = builder.Build();
  part.source = "database";
  MakeJobOf({std::move(part)});
  WhatIf what_if;
  what_if.expect.cuts.push_back(job_.graph.first_edge[0] + edge);
  const auto places = Find(kHostSync, what_if, {TimeCategory::kScalarSync});
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].line, "train.py:90");
  EXPECT_EQ(places[0].op, "aten::item");
  EXPECT_EQ(places[0].name, "aclrtSynchronizeStream");
  EXPECT_EQ(places[0].table, "CANN_API");
  EXPECT_EQ(places[0].time, 3 * kMs) << "(2 + 4) / 2";
  EXPECT_EQ(places[0].calls, 1);
  EXPECT_EQ(places[0].of_all, 3'500'000);
  EXPECT_EQ(places[1].line, "train.py:95");
}

TEST_F(EvidenceTest, OfManyPlacesTheLargestAreKept) {
  PartBuilder builder;
  builder.Step();
  for (TimeNs i = 0; i < 90; ++i)
    builder.Kernel("K" + std::to_string(i), (1 + i * 37 % 90) * kUs, TimeCategory::kFormat);
  MakeJobOf({builder.Build()});
  const auto places =
      Find(kOpFormat, WithoutKernels(TimeCategory::kFormat), {TimeCategory::kFormat});
  ASSERT_EQ(places.size(), 50u);
  for (std::size_t i = 0; i < places.size(); ++i)
    EXPECT_EQ(places[i].time, (90 - static_cast<TimeNs>(i)) * kUs) << i;
  EXPECT_EQ(places[0].of_all, 4095 * kUs) << "90 * 91 / 2";
}

}  // namespace
}  // namespace mpa
