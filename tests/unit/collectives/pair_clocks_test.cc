// SPDX-License-Identifier: Apache-2.0
#include "mpa/collectives/pair_clocks.h"

#include <gtest/gtest.h>

#include "diagnosis/part_builder.h"
#include "mpa/diagnosis/job/operations.h"

namespace mpa {
namespace {

// Ranks 0 and 1 meet, and so do 2 and 3, whose clocks differ by 5.
RankClocks TwoConnectedComponents() {
  RankClocks clocks;
  clocks.clocks = {{{}, 0, true}, {{}, 0, true}, {{}, 1, true}, {{.offset = 5}, 1, true}};
  clocks.pairs = {{.first = 0, .second = 1}, {.first = 2, .second = 3}};
  return clocks;
}

// Ends of two ranks at one time of the first, which is behind the second by so much.
std::vector<PairEnd> Ends(std::size_t first, std::size_t second,
                          const std::vector<TimeNs>& differences) {
  std::vector<PairEnd> ends;
  for (const TimeNs difference : differences) ends.push_back({first, second, {0, difference}});
  return ends;
}

TEST(PairClocks, AConnectedComponentMovesAsAWhole) {
  RankClocks clocks = TwoConnectedComponents();
  JoinClocksOfPairs(Ends(1, 3, {-900, -1000, -1010}), clocks);
  EXPECT_EQ(clocks.clocks[1].line.offset, 0);
  EXPECT_EQ(clocks.clocks[3].line.offset, 1000) << "the median";
  EXPECT_EQ(clocks.clocks[2].line.offset, 995);
  EXPECT_EQ(clocks.clocks[2].sigma, 1 + 14) << "10 x 1.4826";
}

// The third rank gains 100 us a second on the first two, and the fourth loses as much against it.
TEST(PairClocks, AConnectedComponentThatDriftsFollowsTheOther) {
  constexpr TimeNs kSecond = 1'000 * kMs;
  RankClocks clocks;
  clocks.clocks = {
      {{}, 0, true}, {{}, 0, true}, {{}, 1, true}, {{.offset = 5, .drift = -1e-4}, 1, true}};
  clocks.pairs = {{.first = 0, .second = 1}, {.first = 2, .second = 3}};
  std::vector<PairEnd> ends;
  for (TimeNs i = 0; i < 9; ++i) ends.push_back({1, 2, {i * kSecond, -i * 100'000 - 7}});
  JoinClocksOfPairs(ends, clocks);
  EXPECT_EQ(clocks.clocks[2].line.Convert(0 + 7), 0);
  EXPECT_EQ(clocks.clocks[2].line.Convert(8 * kSecond + 800'000 + 7), 8 * kSecond);
  // The clock of the fourth is 5 ahead of the third at its 0, and shows less than 8 s by 100 us
  // each.
  EXPECT_NEAR(static_cast<double>(clocks.clocks[3].line.Convert(8 * kSecond)), 8e9, 200)
      << "it runs as the first two do";
  EXPECT_EQ(clocks.clocks[2].sigma, 1) << "the line leaves nothing";
}

TEST(PairClocks, WhatDoesNotTellLeavesThemAlone) {
  RankClocks clocks = TwoConnectedComponents();
  JoinClocksOfPairs(Ends(1, 3, {-900, -1000}), clocks);
  EXPECT_EQ(clocks.clocks[3].line.offset, 5) << "two are too few";
  JoinClocksOfPairs(Ends(1, 3, {0, -1'000'000, -2'000'000}), clocks);
  EXPECT_EQ(clocks.clocks[3].line.offset, 5) << "they do not agree";
  JoinClocksOfPairs(Ends(0, 1, {-900, -900, -900}), clocks);
  EXPECT_EQ(clocks.clocks[1].line.offset, 0) << "collectives compare them";
}

TEST(PairClocks, RanksWithoutAnyCollectiveGetAClock) {
  RankClocks clocks;
  clocks.clocks.resize(3);
  JoinClocksOfPairs(Ends(0, 2, {70, 70, 70}), clocks);
  EXPECT_EQ(clocks.clocks[2].line.offset, -70);
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
    part.collectives.groups = {{"p", "pp", {0, 1}}};
    if (rank == 1) {
      for (OperationPart& operation : part.operations) operation.start += kAhead;
      for (GraphNode& node : part.graph.nodes) node.start += kAhead;
      for (StepPart& step : part.steps) step.begin += kAhead, step.end += kAhead;
    }
    parts.push_back(builder.Build());
  }
  const JobOperations operations = JoinOperations({{0, &parts[0]}, {1, &parts[1]}}, {});
  EXPECT_EQ(operations.clock[1].Convert(kAhead), 0);
  ASSERT_EQ(operations.all.size(), 6u);
  for (const JobOperation& operation : operations.all)
    EXPECT_EQ(operation.joint.members.size(), 2u);
}

}  // namespace
}  // namespace mpa
