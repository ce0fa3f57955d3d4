// SPDX-License-Identifier: Apache-2.0
// Kernels that need not be there, or not in this form. The gains are worked out by hand.
#include <gtest/gtest.h>

#include <string_view>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"

namespace mpa {
namespace {

TEST(DeviceCauses, MatricesInFp32) {
  auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", 4 * kMs).Kernel("Add", 6 * kMs, TimeCategory::kVector);
    step.Kind("MatMulV3").multiplies_fp32 = true;
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "op.fp32");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 2 * kMs);      // half
  EXPECT_EQ(found->gain_max, 3 * kMs);  // three quarters
  EXPECT_EQ(found->kind, FindingKind::kOpportunity);
}

// A softmax of 0.5 ms between two products, over rows of that shape.
bool IsAttention(std::string_view shape, const Thresholds& thresholds = {},
                 std::string_view product = "BatchMatMulV2") {
  const auto part = ThreeSteps([&](PartBuilder& step) {
    step.Kernel(product, kMs)
        .Kernel("SoftmaxV2", 500 * kUs, TimeCategory::kVector)
        .Kernel(product, kMs);
    step.Kind("SoftmaxV2").shapes = step.NameOf(shape);
  });
  const Diagnosis diagnosis = DiagnoseJob({part}, thresholds);
  const Finding* found = FindingWith(diagnosis, "op.attention");
  EXPECT_TRUE(found == nullptr || found->gain == 450 * kUs) << "0.9 of the softmax";
  return found != nullptr;
}

MPA_REFUTES(DeviceCauses, AttentionOfShortSequencesIsNotWorthAFusedKernel, "op.attention");
TEST(DeviceCauses, AttentionOfShortSequencesIsNotWorthAFusedKernel) {
  EXPECT_TRUE(IsAttention("\"4,16,128,128\""));
  EXPECT_FALSE(IsAttention("\"4,16,128,127\""));
  EXPECT_TRUE(IsAttention("N/A")) << "not known";
  Thresholds thresholds;
  SetRule("op.attention", "sequence", 64, thresholds);
  EXPECT_TRUE(IsAttention("\"4,16,128,64\"", thresholds));
}

TEST(DeviceCauses, TheProductsOfAttentionAreThoseOfTheClassOfKernels) {
  const auto is_attention = [](std::string_view product) {
    return IsAttention("\"4,16,128,128\"", {}, product);
  };
  EXPECT_TRUE(is_attention("volta_sgemm_batched_128x64")) << "of a GPU";
  EXPECT_FALSE(is_attention("BatchMatMulReduceScatterAlltoAll")) << "it communicates";
  EXPECT_FALSE(is_attention("MatMulV3")) << "a layer and its loss";
}

// A kernel of 1 ms, which the host takes 500 us to launch.
MPA_REFUTES(DeviceCauses, AtMostAKernelOfTheAiCpuIsNotNeeded, "op.aicpu");
TEST(DeviceCauses, AtMostAKernelOfTheAiCpuIsNotNeeded) {
  const auto part = ThreeSteps([](PartBuilder& step) {
    step.Kernel("MatMulV3", 2 * kMs).Host(TimeCategory::kDispatchCann, 500 * kUs);
    step.Part().graph.nodes.back().kind = NodeKind::kLaunch;
    step.Kernel("Unique", kMs, TimeCategory::kAiCpu);
  });
  const Diagnosis diagnosis = DiagnoseJob({part});
  const Finding* found = FindingWith(diagnosis, "op.aicpu");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 900 * kUs);
  EXPECT_EQ(found->gain_max, 1500 * kUs);
}

}  // namespace
}  // namespace mpa
