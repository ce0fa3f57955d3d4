// SPDX-License-Identifier: Apache-2.0
// What small collectives cost the hosts that issue them. The gains are worked out by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "mpa/diagnosis/report/finding_text.h"

namespace mpa {
namespace {

constexpr std::int64_t kSmallMessage = 8 << 20;
constexpr TimeNs kSmallData = 400 * kUs;  // what the link takes for it

// A rank with four small operations of 1 ms in each of three steps, and one of 20 times the data
// that is not small: 8 ms. For each of them the host works for 500 us, `category`.
RankDiagnosis IssuesOperations(TimeCategory category, std::int32_t peer = 1) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", kMs);
    for (int i = 0; i < 5; ++i) {
      const int messages = i == 4 ? 20 : 1;
      const auto number = static_cast<std::uint32_t>(builder.Part().operations.size());
      builder.Host(category, 500 * kUs);
      builder.Part().graph.nodes.back().kind = NodeKind::kLaunch;
      builder.Collective("hcom_allReduce__1_" + std::to_string(number),
                         messages == 1 ? kMs : messages * kSmallData);
      builder.Transfer(peer, messages * kSmallMessage, messages * kSmallData);
    }
    builder.Host(TimeCategory::kHostIdle, 500 * kUs).Kernel("MatMulV3", kMs);
  }
  return builder.Build();
}

// Twelve operations of 8 MiB are six of 16 MiB: half of the work of their hosts, and all of their
// latency.
constexpr TimeNs kLatencies = 4 * (kMs - kSmallData);

TEST(SmallCollectives, FewerOperationsAreIssuedByFewerCalls) {
  for (const TimeCategory category :
       {TimeCategory::kDispatchComm, TimeCategory::kDispatchOp, TimeCategory::kDispatchCann}) {
    const Diagnosis diagnosis = DiagnoseJob({IssuesOperations(category)});
    const Finding* found = FindingWith(diagnosis, "comm.small/g");
    ASSERT_NE(found, nullptr) << NameOf(category);
    // The data of an operation take 400 us, to the nanosecond.
    EXPECT_NEAR(static_cast<double>(found->alone), static_cast<double>(kLatencies + 4 * 250 * kUs),
                8)
        << NameOf(category);
  }
}

TEST(SmallCollectives, OtherWorkOfTheHostIsLeft) {
  for (const TimeCategory category :
       {TimeCategory::kDataLoader, TimeCategory::kGarbage, TimeCategory::kScalarSync}) {
    const Diagnosis diagnosis = DiagnoseJob({IssuesOperations(category)});
    const Finding* found = FindingWith(diagnosis, "comm.small/g");
    ASSERT_NE(found, nullptr) << NameOf(category);
    EXPECT_NEAR(static_cast<double>(found->alone), static_cast<double>(kLatencies), 8)
        << NameOf(category);
  }
}

TEST(SmallCollectives, AllMembersIssueFewer) {
  // Rank 1 is in each operation with rank 0: what both hosts do is the way to it, so both have to
  // do less.
  const Diagnosis diagnosis = DiagnoseJob({IssuesOperations(TimeCategory::kDispatchComm, 1),
                                           IssuesOperations(TimeCategory::kDispatchComm, 0)});
  const Finding* found = FindingWith(diagnosis, "comm.small/g");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(static_cast<double>(found->alone), static_cast<double>(kLatencies + 4 * 250 * kUs),
              8);
}

// Operations of 2.1 ms with 8 MiB, which a link moves in 2 ms: 4.2 GB/s, where such links move 18.
TEST(SmallCollectives, DataOnASlowLinkAreNoLatency) {
  std::vector<RankDiagnosis> parts;
  for (int rank = 0; rank < 2; ++rank) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      builder.Step().Kernel("MatMulV3", 10 * kMs);
      for (int i = 0; i < 6; ++i) {
        const auto number = static_cast<std::uint32_t>(builder.Part().operations.size());
        builder.Host(TimeCategory::kDispatchComm, 200 * kUs)
            .Collective("hcom_allReduce__1_" + std::to_string(number), 2'100 * kUs);
        builder.Transfer(1 - rank, kSmallMessage, 2 * kMs);
      }
    }
    parts.push_back(builder.Build());
  }
  const Diagnosis diagnosis = DiagnoseJob(parts);
  const Finding* link = FindingWith(diagnosis, "link.slow/0-1");
  ASSERT_NE(link, nullptr);
  EXPECT_NEAR(static_cast<double>(link->gain), 6 * (2e6 - 8388608 / 18.0), 10);
  EXPECT_EQ(FindingWith(diagnosis, "comm.small/g"), nullptr);
}

// Attention of a model that answers, then four operations of 300 us with data of 100 us, each
// before a kernel that needs it. A large one shows the bandwidth.
RankDiagnosis Answers(std::string_view attention = "PagedAttentionMaskNdKernel") {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel(attention, kMs, TimeCategory::kAttention);
    for (int i = 0; i < 5; ++i) {
      const auto number = static_cast<std::uint32_t>(builder.Part().operations.size());
      builder
          .Collective("hcom_allReduce__1_" + std::to_string(number), i == 4 ? 10 * kMs : 300 * kUs)
          .Kernel("MatMulV3", kMs);
      builder.Transfer(1, i == 4 ? 100'000'000 : 1'000'000, i == 4 ? 10 * kMs : 100 * kUs);
    }
  }
  return builder.Build();
}

TEST(SmallCollectives, OfInferenceStartSoonerOnTheVectorCores) {
  const Diagnosis diagnosis = DiagnoseJob({Answers()});
  const Finding* found = FindingWith(diagnosis, "comm.small/g");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->alone, 4 * 100 * kUs) << "half of the latency";
  EXPECT_EQ(found->gain_max, 4 * 200 * kUs);
  EXPECT_EQ(found->confidence, Certainty::kLow);
  EXPECT_EQ(MetricIn(*found, "calls_per_step"), 4);
  EXPECT_EQ(AdviceOf(*found), "HCCL_OP_EXPANSION_MODE=AIV (the vector cores start them sooner)");
  Thresholds thresholds;
  SetRule("comm.small", "vector_gain", 1, thresholds);
  EXPECT_EQ(FindingWith(DiagnoseJob({Answers()}, thresholds), "comm.small/g")->alone,
            4 * 200 * kUs);
}

TEST(SmallCollectives, VectorCoresHaveLimits) {
  const auto is_found = [](auto change) {
    RankDiagnosis part = Answers();
    change(part);
    return FindingWith(DiagnoseJob({part}), "comm.small/g") != nullptr;
  };
  EXPECT_TRUE(is_found([](RankDiagnosis& part) { part.settings["HCCL_DETERMINISTIC"] = "false"; }));
  EXPECT_FALSE(is_found([](RankDiagnosis& part) { part.settings["HCCL_DETERMINISTIC"] = "true"; }))
      << "it rules the mode out";
  EXPECT_FALSE(is_found([](RankDiagnosis& part) {
    part.settings["HCCL_OP_EXPANSION_MODE"] = "AIV";
  })) << "they do it already";
  EXPECT_FALSE(is_found([](RankDiagnosis& part) { part.source = kGpuSource; }));
  EXPECT_FALSE(is_found([](RankDiagnosis& part) { part.graph.nodes.back().in_optimizer = true; }))
      << "a model that learns";
  EXPECT_FALSE(is_found([](RankDiagnosis& part) {
    for (OperationPart& operation : part.operations) operation.port_bytes = 1;
  })) << "to another host";
  EXPECT_FALSE(is_found([](RankDiagnosis& part) {
    part.names.emplace_back("h");
    part.operations[1].group = static_cast<NameId>(part.names.size() - 1);
    part.operations[1].start = part.operations[0].start + 1;
  })) << "two groups at once";
  EXPECT_EQ(FindingWith(DiagnoseJob({Answers("FlashAttentionScore")}), "comm.small/g"), nullptr)
      << "nothing says that it is inference";
}

TEST(SmallCollectives, WhatFillsTheLargestSizeIsNotMerged) {
  Thresholds thresholds;
  SetRule("comm.small", "bytes", static_cast<double>(kSmallMessage), thresholds);
  const Diagnosis diagnosis =
      DiagnoseJob({IssuesOperations(TimeCategory::kDispatchComm)}, thresholds);
  const Finding* found = FindingWith(diagnosis, "comm.small/g");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(static_cast<double>(found->alone), static_cast<double>(kLatencies), 8)
      << "as many operations as before";
}

}  // namespace
}  // namespace mpa
