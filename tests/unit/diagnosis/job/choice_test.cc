// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/job/choice.h"

#include <gtest/gtest.h>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "mpa/base/error.h"

namespace mpa {
namespace {

constexpr std::size_t kRanks = 12;

// Ranks that meet at the end of each of eight steps. The host of rank 7 takes 3 ms more, and so
// does the first kernel of rank 2.
std::vector<RankDiagnosis> TwoSlowRanks() {
  std::vector<RankDiagnosis> parts;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    PartBuilder builder;
    const TimeNs host = rank == 7 ? 3 * kMs : 0, kernel = rank == 2 ? 3 * kMs : 0;
    for (std::size_t step = 0; step < 8; ++step) {
      builder.Step()
          .Host(TimeCategory::kDispatchOp, kMs + host)
          .Kernel("MatMulV3", 4 * kMs + kernel);
      builder.Collective("hcom_allReduce__1_" + std::to_string(step),
                         kMs + 3 * kMs - host - kernel);
    }
    parts.push_back(builder.Build());
  }
  return parts;
}

std::vector<DiagnosedRank> RanksOf(const std::vector<RankDiagnosis>& parts) {
  std::vector<DiagnosedRank> ranks;
  for (const RankDiagnosis& part : parts)
    ranks.push_back({static_cast<std::int64_t>(ranks.size()), &part});
  return ranks;
}

// Memory for the outlines of all ranks and the graphs of so many of them, which have about the same
// size.
std::int64_t RoomFor(std::size_t ranks, const std::vector<RankDiagnosis>& parts) {
  RankDiagnosis without_graph = OutlineOf(parts.front());
  without_graph.whole_bytes = 0;
  const std::int64_t outline = MemoryOfReplay(without_graph);
  const std::int64_t graph = MemoryOfReplay(parts.front()) - outline;
  return outline * static_cast<std::int64_t>(parts.size()) +
         graph * static_cast<std::int64_t>(2 * ranks + 1) / 2;
}

std::vector<std::size_t> Choose(const std::vector<RankDiagnosis>& parts, std::int64_t bytes) {
  const std::vector<DiagnosedRank> ranks = RanksOf(parts);
  return ChooseRanks(ranks, JoinOperations(ranks, {}), {}, bytes);
}

// What Diagnose() gets of a job of which only the chosen parts were read whole.
std::vector<RankDiagnosis> WithOutlines(std::vector<RankDiagnosis> parts,
                                        const std::vector<std::size_t>& whole) {
  std::vector<RankDiagnosis> read;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    const bool is_whole = std::ranges::find(whole, rank) != whole.end();
    read.push_back(is_whole ? std::move(parts[rank]) : OutlineOf(parts[rank]));
  }
  return read;
}

RankChoice Chosen(const std::vector<RankDiagnosis>& parts, const std::vector<std::size_t>& whole) {
  const std::vector<RankDiagnosis> read = WithOutlines(parts, whole);
  const std::vector<DiagnosedRank> ranks = RanksOf(read);
  return ChosenRanks(ranks, JoinOperations(ranks, {}), {});
}

void ExpectSameFindings(const Diagnosis& actual, const Diagnosis& expected) {
  ASSERT_EQ(actual.findings.size(), expected.findings.size());
  for (std::size_t i = 0; i < expected.findings.size(); ++i) {
    EXPECT_EQ(actual.findings[i].key, expected.findings[i].key);
    EXPECT_EQ(actual.findings[i].gain, expected.findings[i].gain);
  }
  EXPECT_EQ(actual.accounting.size(), expected.accounting.size());
}

TEST(RankChoice, AllRanksOfAJobThatHasRoom) {
  const std::vector<RankDiagnosis> parts = TwoSlowRanks();
  EXPECT_EQ(Choose(parts, 0).size(), kRanks) << "no limit";
  std::int64_t bytes = 0;
  for (const RankDiagnosis& part : parts) bytes += MemoryOfReplay(part);
  EXPECT_EQ(Choose(parts, bytes).size(), kRanks);
  EXPECT_LT(Choose(parts, bytes - 1).size(), kRanks);
  EXPECT_EQ(ChosenRanks(RanksOf(parts), JoinOperations(RanksOf(parts), {}), {}).stand_out, 0u);
}

TEST(RankChoice, ThoseThatStandOutAndSomeThatDoNot) {
  const std::vector<RankDiagnosis> parts = TwoSlowRanks();
  const std::vector<std::size_t> whole = Choose(parts, RoomFor(4, parts));
  EXPECT_EQ(whole, (std::vector<std::size_t>{0, 1, 2, 7}));
  const RankChoice choice = Chosen(parts, whole);
  EXPECT_EQ(choice.whole, whole);
  EXPECT_EQ(choice.stand_out, 2u);
  EXPECT_EQ(choice.left_out, 0u);
}

TEST(RankChoice, TheLargestExcessOfEachKindOfWorkComesFirst) {
  const std::vector<RankDiagnosis> parts = TwoSlowRanks();
  const std::vector<std::size_t> whole = Choose(parts, RoomFor(2, parts));
  // Half of the room is for one that stands out.
  EXPECT_EQ(whole.size(), 2u);
  EXPECT_EQ(Chosen(parts, whole).left_out, 1u);
}

TEST(RankChoice, OneChainAtLeastHoweverLargeItIs) {
  EXPECT_EQ(Choose(TwoSlowRanks(), 1).size(), 1u);
}

TEST(RankChoice, APipelineIsTakenWhole) {
  std::vector<RankDiagnosis> parts = TwoSlowRanks();
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const auto first = static_cast<std::int64_t>(rank % 6);
    parts[rank].collectives.groups = {{"p", "pp", {first, first + 6}}};
  }
  const std::vector<std::size_t> whole = Choose(parts, RoomFor(6, parts));
  // Half of the room is for one pipeline with a slow rank; the other one is left out.
  EXPECT_EQ(whole, (std::vector<std::size_t>{0, 2, 3, 6, 8, 9}));
  EXPECT_EQ(Chosen(parts, whole).left_out, 1u);
}

TEST(RankChoice, WhoSharesLayersWithALateRankIsTaken) {
  std::vector<RankDiagnosis> parts = TwoSlowRanks();
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const auto first = static_cast<std::int64_t>(rank / 2 * 2);
    parts[rank].collectives.groups = {{"t", "tp", {first, first + 1}}};
  }
  EXPECT_EQ(Choose(parts, RoomFor(4, parts)), (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(RankChoice, AnOutlineIsAPartWithoutGraph) {
  const RankDiagnosis part = TwoSlowRanks()[7], outline = OutlineOf(part);
  EXPECT_NO_THROW(CheckPart(outline));
  EXPECT_TRUE(outline.is_outline);
  EXPECT_TRUE(outline.graph.nodes.empty());
  ASSERT_EQ(outline.operations.size(), 8u);
  EXPECT_EQ(outline.names[outline.operations[3].name], "hcom_allReduce__1_3");
  ASSERT_EQ(outline.steps[0].work.size(), 2u);
  EXPECT_EQ(outline.names[outline.steps[0].work[0].name], "MatMulV3");
  EXPECT_EQ(outline.steps[0].work[0].time, 4 * kMs);
  EXPECT_EQ(outline.steps[0].work[1].time, 4 * kMs);
}

TEST(RankChoice, FewReplayedRanksFindWhatAllOfThemShow) {
  const std::vector<RankDiagnosis> parts = TwoSlowRanks();
  const Diagnosis all = DiagnoseJob(parts),
                  some = DiagnoseJob(WithOutlines(parts, Choose(parts, RoomFor(4, parts))));
  EXPECT_TRUE(all.replayed.ranks.empty());
  EXPECT_EQ(some.replayed.ranks.size(), 4u);
  EXPECT_EQ(some.replayed.stand_out, 2u);
  EXPECT_EQ(some.ranks.size(), kRanks);
  EXPECT_EQ(some.step, all.step);
  ASSERT_FALSE(all.findings.empty());
  ExpectSameFindings(some, all);
}

TEST(RankChoice, OutlinesTellAsMuchAsPartsThatAreWhole) {
  const std::vector<RankDiagnosis> parts = TwoSlowRanks();
  const std::int64_t room = RoomFor(4, parts);
  const std::vector<std::size_t> whole = Choose(parts, room);
  for (const std::vector<std::size_t>& are_whole : {std::vector<std::size_t>(), {3, 7}}) {
    const std::vector<RankDiagnosis> read = WithOutlines(parts, are_whole);
    EXPECT_EQ(ReplayedOf(RanksOf(read), {}, room), whole);
  }
}

TEST(RankChoice, OutlinesAloneAreNotDiagnosed) {
  std::vector<RankDiagnosis> outlines;
  for (const RankDiagnosis& part : TwoSlowRanks()) outlines.push_back(OutlineOf(part));
  EXPECT_THROW(DiagnoseJob(outlines), Error);
}

}  // namespace
}  // namespace mpa
