// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnosis/causes/small_operations.h"
#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"

namespace mpa {
namespace {

void AddGradient(std::string_view type, std::int64_t bytes, PartBuilder& builder) {
  builder.Kernel(type, 10 * kUs, TimeCategory::kVector);
  builder.Part().graph.nodes.back().adds_gradients = true;
  builder.Kind(type).written = bytes;
}

// Backward passes that make 600 bytes of gradients, then twice 100, and others that no kernel adds.
// A collective follows, and the optimizer.
RankDiagnosis MakesGradients(int passes) {
  PartBuilder builder;
  builder.Step();
  for (int pass = 0; pass < passes; ++pass) {
    builder.Kernel("MatMulV3", 100 * kUs);
    AddGradient("Head", 600, builder);
    builder.Kernel("MatMulV3", 50 * kUs);
    AddGradient("Layer", 100, builder);
    builder.Kernel("MatMulV3", 30 * kUs);
    AddGradient("Layer", 100, builder);
    builder.Kernel("EmbeddingDenseGrad", 20 * kUs, TimeCategory::kVector);
  }
  builder.Collective("hcom_allReduce__1_0", kMs);
  AddGradient("Optimizer", 700, builder);
  return builder.Build();
}

TEST(GradientCurve, CountsBackFromTheEndOfThePass) {
  const RankDiagnosis part = MakesGradients(1);
  const KernelsOfSteps kernels(part);
  const GradientCurve curve(part, kernels.Of(0), 1000, 1, part.operations[0].start);
  ASSERT_TRUE(curve.IsKnown());
  EXPECT_EQ(curve.LeadOf(1), (50 + 10 + 30 + 10 + 20) * kUs);
  EXPECT_EQ(curve.LeadOf(600), (50 + 10 + 30 + 10 + 20) * kUs);
  EXPECT_EQ(curve.LeadOf(700), (30 + 10 + 20) * kUs);
  EXPECT_EQ(curve.LeadOf(809), 20 * kUs) << "a hundredth more is rounding";
  EXPECT_EQ(curve.LeadOf(811), 0) << "no kernel adds the rest";
}

TEST(GradientCurve, TheLastOfSeveralPassesCounts) {
  const RankDiagnosis part = MakesGradients(2);
  const KernelsOfSteps kernels(part);
  const GradientCurve curve(part, kernels.Of(0), 1000, 2, part.operations[0].start);
  ASSERT_TRUE(curve.IsKnown());
  EXPECT_EQ(curve.LeadOf(600), (50 + 10 + 30 + 10 + 20) * kUs);
  EXPECT_EQ(curve.LeadOf(900), 0);
}

TEST(GradientCurve, LessThanHalfOfTheGradientsTellNothing) {
  const RankDiagnosis part = MakesGradients(1);
  EXPECT_TRUE(
      GradientCurve(part, KernelsOfSteps(part).Of(0), 1600, 1, part.operations[0].start).IsKnown());
  EXPECT_FALSE(
      GradientCurve(part, KernelsOfSteps(part).Of(0), 1601, 1, part.operations[0].start).IsKnown());
}

// Three steps with two reductions of 1 ms each behind all that is computed. Of the 1000 bytes that
// they reduce, kernels of the backward pass add 500, so many bytes at first and the rest before the
// last `rest` of computing.
Diagnosis ReducedAtTheEnd(std::int64_t first, TimeNs rest) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step().Kernel("MatMulV3", 6 * kMs);
    AddGradient("First", first, builder);
    builder.Kernel("MatMulV3", 3 * kMs - rest);
    AddGradient("Second", 500 - first, builder);
    builder.Kernel("MatMulV3", rest);
    for (int i = 0; i < 2; ++i) {
      builder.Collective("hcom_allReduce__1_" + std::to_string(2 * step + i), kMs);
      builder.Part().operations.back().bytes = 500;
    }
  }
  return DiagnoseJob({builder.Build()});
}

MPA_REFUTES(GradientCurve, LateGradientsCannotBeSentEarlier, "comm.not_overlapped");
TEST(GradientCurve, LateGradientsCannotBeSentEarlier) {
  // The first reduction can begin 250 us before the end, the second must follow it: 1750 of 2000 us
  // show.
  const Diagnosis late = ReducedAtTheEnd(100, 250 * kUs);
  const Finding* found = FindingWith(late, "comm.not_overlapped/g");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(static_cast<double>(found->gain), 250e3, 2);
  // 2 ms before the end; then the second one alone shows.
  const Diagnosis early = ReducedAtTheEnd(100, 2 * kMs);
  found = FindingWith(early, "comm.not_overlapped/g");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(static_cast<double>(found->gain), 1e6, 2);
}

}  // namespace
}  // namespace mpa
