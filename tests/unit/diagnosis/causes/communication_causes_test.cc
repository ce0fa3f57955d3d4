// SPDX-License-Identifier: Apache-2.0
// Collectives that are too small, idle in between, or use a slow link. The gains are worked out by
// hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "mpa/diagnosis/report/finding_text.h"

namespace mpa {
namespace {

// Operations of 1 MB over a link that moves 100 MB in 10 ms: 0.1 ms for the data. One large one in
// each step shows the bandwidth. A slow peer holds the small ones up for some of their time.
Diagnosis WithSmallOperations(int small, TimeNs dur, TimeNs held_up = 0) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", kMs);
    for (int i = 0; i <= small; ++i) {
      const bool large = i == small;
      builder.Collective(fmt::format("hcom_allReduce__1_{}_{}", step, i), large ? 10 * kMs : dur);
      if (!large) builder.Part().operations.back().held_up = held_up;
      builder.Transfer(1, large ? 100 * kMb : kMb, large ? 10 * kMs : 100 * kUs);
    }
    builder.Kernel("MatMulV3", kMs);
  }
  return DiagnoseJob({builder.Build()});
}

TEST(CommunicationCauses, ManySmallOperations) {
  const Diagnosis diagnosis = WithSmallOperations(4, 300 * kUs);
  const Finding* found = FindingWith(diagnosis, "comm.small/g");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, 4 * 200 * kUs);  // all but the data
  EXPECT_EQ(MetricIn(*found, "calls_per_step"), 4);
  EXPECT_EQ(MetricIn(*found, "mean_size"), kMb);
}

TEST(CommunicationCauses, SmallOperationsHaveLimits) {
  EXPECT_EQ(FindingWith(WithSmallOperations(3, 300 * kUs), "comm.small/g"), nullptr)
      << "fewer than four";
  EXPECT_NE(FindingWith(WithSmallOperations(4, 200 * kUs), "comm.small/g"), nullptr)
      << "twice the data";
  EXPECT_EQ(FindingWith(WithSmallOperations(4, 199 * kUs), "comm.small/g"), nullptr)
      << "mostly data";
}

MPA_REFUTES(CommunicationCauses, OperationsThatASlowPeerHoldsUpAreNotSmall, "comm.small");
TEST(CommunicationCauses, OperationsThatASlowPeerHoldsUpAreNotSmall) {
  EXPECT_EQ(FindingWith(WithSmallOperations(4, 300 * kUs, 150 * kUs), "comm.small/g"), nullptr);
}

// One operation of 14 ms in each step, of which 100 MB take 10 ms. `fill` says what its members do.
template <typename Fill>
std::vector<RankDiagnosis> OneOperation(std::size_t ranks, bool has_peers, Fill fill) {
  std::vector<RankDiagnosis> parts;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      builder.Step()
          .Kernel("MatMulV3", 10 * kMs)
          .Collective("hcom_allReduce__1_" + std::to_string(step), 14 * kMs);
      OperationPart& operation = builder.Part().operations.back();
      fill(rank, operation);
      auto& categories = builder.Part().steps.back().categories;
      categories[static_cast<std::size_t>(TimeCategory::kInnerIdle)] = operation.idle;
      categories[static_cast<std::size_t>(TimeCategory::kInnerWait)] = operation.held_up;
      categories[static_cast<std::size_t>(TimeCategory::kTransfer)] -=
          operation.idle + operation.held_up;
      if (!has_peers) continue;
      builder.Transfer(static_cast<std::int32_t>(rank) + 1, 100 * kMb, 10 * kMs);
    }
    parts.push_back(builder.Build());
  }
  return parts;
}

TEST(CommunicationCauses, OperationsThatIdle) {
  const Diagnosis diagnosis =
      DiagnoseJob(OneOperation(2, true, [](std::size_t rank, OperationPart& operation) {
        operation.idle = (rank == 0 ? 4 : 3) * kMs;
      }));
  const Finding* found = FindingWith(diagnosis, "comm.inner");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, 1'500 * kUs) << "half of what all members idle";
  EXPECT_EQ(found->kind, FindingKind::kOpportunity);
  EXPECT_EQ(MetricIn(*found, "time_per_step"), 3.5e6) << "the mean of the ranks";
  const auto little = [](std::size_t, OperationPart& operation) { operation.idle = 700 * kUs; };
  EXPECT_EQ(FindingWith(DiagnoseJob(OneOperation(2, true, little)), "comm.inner"), nullptr)
      << "2.9 % of the step";
}

TEST(CommunicationCauses, AFixedOrderOfSumsIsAdvisedAgainstWhereItIsSet) {
  std::vector<RankDiagnosis> parts = OneOperation(
      2, true, [](std::size_t, OperationPart& operation) { operation.idle = 4 * kMs; });
  const auto advice = [&] { return AdviceOf(*FindingWith(DiagnoseJob(parts), "comm.inner")); };
  const std::string usual =
      "compare the modes of HCCL_OP_EXPANSION_MODE; HCCL_BUFFSIZE above the message";
  EXPECT_EQ(advice(), usual);
  parts[0].settings["HCCL_DETERMINISTIC"] = "false";
  EXPECT_EQ(advice(), usual);
  parts[1].settings["HCCL_DETERMINISTIC"] = "true";
  EXPECT_EQ(advice(),
            "HCCL_DETERMINISTIC=false unless results must repeat; compare the modes of"
            " HCCL_OP_EXPANSION_MODE");
}

TEST(CommunicationCauses, TasksOfTheProfilerMayBeWhatOperationsIdleFor) {
  std::vector<RankDiagnosis> parts = OneOperation(
      2, true, [](std::size_t, OperationPart& operation) { operation.idle = 4 * kMs; });
  EXPECT_EQ(FindingWith(DiagnoseJob(parts), "comm.inner")->confidence, Certainty::kHigh);
  parts[1].level = "Level2";
  EXPECT_EQ(FindingWith(DiagnoseJob(parts), "comm.inner")->confidence, Certainty::kLow);
}

MPA_REFUTES(CommunicationCauses, AMemberThatWasNotCapturedHoldsUpTheOthers, "comm.inner");
TEST(CommunicationCauses, AMemberThatWasNotCapturedHoldsUpTheOthers) {
  const Diagnosis diagnosis =
      DiagnoseJob(OneOperation(2, true, [](std::size_t rank, OperationPart& operation) {
        operation.held_up = (rank == 0 ? 4 : 3) * kMs;
      }));
  const Finding* found = FindingWith(diagnosis, "comm.inner/peer");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, 3 * kMs) << "what all members wait";
  EXPECT_EQ(found->kind, FindingKind::kFault);
  const auto through_port = [](std::size_t, OperationPart& operation) {
    operation.held_up = 4 * kMs;
    operation.port_bytes = 100 * kMb;
  };
  EXPECT_EQ(FindingWith(DiagnoseJob(OneOperation(2, true, through_port)), "comm.inner/peer"),
            nullptr)
      << "the peer sends to both through one port";
  const auto all = [](std::size_t, OperationPart& operation) { operation.held_up = 4 * kMs; };
  EXPECT_EQ(FindingWith(DiagnoseJob(OneOperation(2, false, all)), "comm.inner/peer"), nullptr)
      << "it may be data on their way";
  const auto only_one = [](std::size_t rank, OperationPart& operation) {
    operation.held_up = rank == 0 ? 4 * kMs : 0;
  };
  EXPECT_EQ(FindingWith(DiagnoseJob(OneOperation(2, true, only_one)), "comm.inner/peer"), nullptr)
      << "the slow one was captured";
}

TEST(CommunicationCauses, ASlowLinkShowsWithoutPeers) {
  const auto fill = [](std::size_t rank, OperationPart& operation) {
    operation.moved = (rank == 2 ? 13 : 10) * kMs;
    if (rank == 2) operation.moved += kMs;  // 14 ms against 10: 0.71 of the speed
  };
  EXPECT_EQ(FindingWith(DiagnoseJob(OneOperation(4, false, fill)), "link.slow/r2"), nullptr)
      << "not slow enough";
  const auto slower = [](std::size_t rank, OperationPart& operation) {
    operation.moved = (rank == 2 ? 14 : 9) * kMs;
  };
  const Diagnosis diagnosis = DiagnoseJob(OneOperation(4, false, slower));
  const Finding* found = FindingWith(diagnosis, "link.slow/r2");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 5 * kMs);
  EXPECT_EQ(found->ranks, std::vector<RankId>{2});
  EXPECT_EQ(FindingWith(DiagnoseJob(OneOperation(2, false, slower)), "link.slow/r2"), nullptr)
      << "two are no peers";
  EXPECT_EQ(FindingWith(DiagnoseJob(OneOperation(4, true, slower)), "link.slow/r2"), nullptr)
      << "the links are known, and well";
}

}  // namespace
}  // namespace mpa
