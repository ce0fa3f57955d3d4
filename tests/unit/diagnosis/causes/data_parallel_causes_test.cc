// SPDX-License-Identifier: Apache-2.0
// What data-parallel training exchanges and clears, of traces that do not record transfers.
#include <gtest/gtest.h>

#include <string>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"

namespace mpa {
namespace {

// Three steps of 10 ms: 4 ms of kernels, and 6 ms of one reduction that nothing runs beside.
RankDiagnosis ExposedRank(TimeNs compute = 4 * kMs) {
  PartBuilder builder;
  for (std::uint32_t step = 0; step < 3; ++step) {
    builder.Step().Host(TimeCategory::kDispatchOp, kUs).Kernel("MatMulV3", compute);
    const TimeNs begin = builder.Now();
    builder.Collective("allreduce_" + std::to_string(step), 6 * kMs);
    builder.Part().steps.back().unsplit.push_back({step, begin, begin + 6 * kMs});
  }
  return builder.Build();
}

TEST(DataParallelCauses, ExposedCommunicationOfOneRankIsAFinding) {
  Thresholds thresholds;
  SetRule("comm.not_overlapped", "gain", 0, thresholds);  // what could be hidden is another finding
  const Diagnosis diagnosis = DiagnoseJob({ExposedRank()}, thresholds);
  const Finding* found = FindingWith(diagnosis, "comm.exposed/g");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->kind, FindingKind::kOpportunity);
  EXPECT_EQ(MetricIn(*found, "time_per_step"), 6 * kMs);
  EXPECT_EQ(found->alone, 3 * kMs) << "half of it";
  EXPECT_EQ(found->gain_max, 6 * kMs);
  ASSERT_FALSE(found->evidence.empty());
  EXPECT_EQ(found->evidence[0].table, "collectives");
}

MPA_REFUTES(DataParallelCauses, LittleExposedCommunicationIsNone, "comm.exposed");
TEST(DataParallelCauses, LittleExposedCommunicationIsNone) {
  const Diagnosis diagnosis = DiagnoseJob({ExposedRank(60 * kMs)});  // 6 of 66 ms
  EXPECT_EQ(FindingWith(diagnosis, "comm.exposed/g"), nullptr);
}

// Forty reductions of 200 us in a step, of 1 MB each: one for every parameter.
RankDiagnosis ManyReductions(int count, std::int64_t bytes) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", 8 * kMs);
    for (int i = 0; i < count; ++i) {
      builder.Collective("allreduce_" + std::to_string(builder.Part().operations.size()),
                         200 * kUs);
      builder.Part().operations.back().bytes = bytes;
    }
  }
  return builder.Build();
}

TEST(DataParallelCauses, AReductionForEveryParameterIsKnownByTheirNumber) {
  const Diagnosis diagnosis = DiagnoseJob({ManyReductions(40, 1 << 20)});
  const Finding* found = FindingWith(diagnosis, "comm.small/g");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(MetricIn(*found, "calls_per_step"), 40);
  EXPECT_EQ(MetricIn(*found, "mean_size"), 1 << 20);
  // 40 MB fit 2.5 buckets of 16 MB: 37.5 of 40 starts of 200 us are gone.
  EXPECT_EQ(found->alone, 7'500 * kUs);
}

TEST(DataParallelCauses, FewOrLargeReductionsAreNotSmall) {
  EXPECT_EQ(FindingWith(DiagnoseJob({ManyReductions(19, 1 << 20)}), "comm.small/g"), nullptr);
  EXPECT_EQ(FindingWith(DiagnoseJob({ManyReductions(40, 32 << 20)}), "comm.small/g"), nullptr);
}

MPA_REFUTES(DataParallelCauses, BuffersThatAreBroadcastInEveryStep, "comm.broadcast");
TEST(DataParallelCauses, BuffersThatAreBroadcastInEveryStep) {
  const auto diagnose = [](std::string_view second) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      builder.Step().Collective("broadcast_" + std::to_string(step), kMs, "broadcast");
      builder.Kernel("MatMulV3", 8 * kMs);
      builder.Collective("second_" + std::to_string(step), kMs, second);
    }
    return DiagnoseJob({builder.Build()});
  };
  const Diagnosis diagnosis = diagnose("allreduce");
  const Finding* found = FindingWith(diagnosis, "comm.broadcast/g");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs);
  EXPECT_EQ(MetricIn(*found, "calls_per_step"), 1);
  EXPECT_EQ(FindingWith(diagnose("alltoall"), "comm.broadcast/g"), nullptr)
      << "no gradients are reduced";
}

MPA_REFUTES(DataParallelCauses, GradientsThatAreFilledWithZeros, "op.zero_grad");
TEST(DataParallelCauses, GradientsThatAreFilledWithZeros) {
  const auto diagnose = [](int kernels) {
    PartBuilder builder;
    for (int step = 0; step < 3; ++step) {
      builder.Step().Kernel("MatMulV3", 8 * kMs);
      for (int i = 0; i < kernels; ++i) {
        builder.Kernel("ZerosLike", 50 * kUs, TimeCategory::kVector);
        builder.Part().graph.nodes[builder.Last()].clears_gradients = true;
      }
    }
    return DiagnoseJob({builder.Build()});
  };
  const Diagnosis diagnosis = diagnose(20);
  const Finding* found = FindingWith(diagnosis, "op.zero_grad");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, kMs) << "20 kernels of 50 us";
  EXPECT_EQ(found->evidence.at(0).name, "ZerosLike");
  EXPECT_EQ(FindingWith(diagnose(19), "op.zero_grad"), nullptr);
}

}  // namespace
}  // namespace mpa
