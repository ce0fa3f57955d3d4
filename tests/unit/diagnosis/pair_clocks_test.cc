// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/pair_clocks.h"

#include <gtest/gtest.h>

#include "diagnosis/operations.h"
#include "diagnosis/part_builder.h"

namespace mpa {
namespace {

// Ranks 0 and 1 meet, and so do 2 and 3, whose clocks differ by 5.
RankClocks TwoIslands() {
  RankClocks clocks;
  clocks.clocks = {{0, 0, true}, {0, 0, true}, {0, 1, true}, {5, 1, true}};
  clocks.pairs = {{.first = 0, .second = 1}, {.first = 2, .second = 3}};
  return clocks;
}

TEST(PairClocks, AnIslandMovesAsAWhole) {
  RankClocks clocks = TwoIslands();
  JoinClocksOfPairs({{1, 3, -900}, {1, 3, -1000}, {1, 3, -1010}}, clocks);
  EXPECT_EQ(clocks.clocks[1].offset, 0);
  EXPECT_EQ(clocks.clocks[3].offset, 1000) << "the median";
  EXPECT_EQ(clocks.clocks[2].offset, 995);
  EXPECT_EQ(clocks.clocks[2].sigma, 1 + 14) << "10 x 1.4826";
}

TEST(PairClocks, WhatDoesNotTellLeavesThemAlone) {
  RankClocks clocks = TwoIslands();
  JoinClocksOfPairs({{1, 3, -900}, {1, 3, -1000}}, clocks);
  EXPECT_EQ(clocks.clocks[3].offset, 5) << "two are too few";
  JoinClocksOfPairs({{1, 3, 0}, {1, 3, -1'000'000}, {1, 3, -2'000'000}}, clocks);
  EXPECT_EQ(clocks.clocks[3].offset, 5) << "they do not agree";
  JoinClocksOfPairs({{0, 1, -900}, {0, 1, -900}, {0, 1, -900}}, clocks);
  EXPECT_EQ(clocks.clocks[1].offset, 0) << "collectives compare them";
}

TEST(PairClocks, RanksWithoutAnyCollectiveGetAClock) {
  RankClocks clocks;
  clocks.clocks.resize(3);
  JoinClocksOfPairs({{0, 2, 70}, {0, 2, 70}, {0, 2, 70}}, clocks);
  EXPECT_EQ(clocks.clocks[2].offset, -70);
  EXPECT_TRUE(clocks.clocks[0].known);
  EXPECT_TRUE(clocks.clocks[2].known);
  EXPECT_FALSE(clocks.clocks[1].known);
}

// Two stages that send each other twice a step. No peers are recorded, and the second clock is a
// second ahead.
TEST(PairClocks, StagesWithoutPeersArePairedInOrder) {
  constexpr TimeNs kAhead = 1'000 * kMs;
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 2; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      builder.Step();
      for (int i = 0; i < 2; ++i) {
        builder.Kernel("MatMulV3", (i + 1) * kMs)
            .Collective("hcom_a", kMs, rank == i ? "send" : "receive", "p");
      }
    }
    RankDiagnosis& part = builder.Part();
    part.meetings.groups = {{"p", "pp", {0, 1}}};
    if (rank == 1) {
      for (OperationPart& operation : part.operations) operation.start += kAhead;
      for (GraphNode& node : part.graph.nodes) node.start += kAhead;
      for (StepPart& step : part.steps) step.begin += kAhead, step.end += kAhead;
    }
    parts.push_back(builder.Build());
  }
  const JobOperations operations = JoinOperations({{0, &parts[0]}, {1, &parts[1]}}, {});
  EXPECT_EQ(operations.clock[1], kAhead);
  ASSERT_EQ(operations.all.size(), 6u);
  for (const JobOperation& operation : operations.all)
    EXPECT_EQ(operation.joint.members.size(), 2u);
}

}  // namespace
}  // namespace mpa
