// SPDX-License-Identifier: Apache-2.0
// Kernels that are a known fusion, and what keeps them from it. The gains are worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnosis/diagnosed.h"
#include "diagnosis/part_builder.h"
#include "diagnosis/refutes.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/part/fusion_patterns.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

struct PlantedKernel {
  std::string type;
  TimeNs dur = 0;
  TimeCategory category = TimeCategory::kVector;
  std::int32_t stream = -1;
};

// Three steps of these kernels and a product of 4 ms, which nothing is fused with.
PartBuilder StepsOf(const std::vector<PlantedKernel>& kernels) {
  PartBuilder builder;
  for (int step = 0; step < 3; ++step) {
    builder.Step();
    for (const PlantedKernel& kernel : kernels) {
      builder.Kernel(kernel.type, kernel.dur, kernel.category);
      builder.Part().graph.nodes[builder.Last()].stream = kernel.stream;
    }
    builder.Kernel("FlashAttentionScore", 4 * kMs, TimeCategory::kAttention);
  }
  return builder;
}

Diagnosis DiagnosisOf(const std::vector<PlantedKernel>& kernels) {
  return DiagnoseJob({StepsOf(kernels).Build()});
}

const PlantedKernel kConv{"Conv2D", 500 * kUs, TimeCategory::kConvolution};
const PlantedKernel kBn{"BNInfer", 200 * kUs}, kRelu{"Relu", 100 * kUs};
const PlantedKernel kTransData{"TransData", 50 * kUs, TimeCategory::kFormat};

const SeenFusion* SeenIn(const Diagnosis& diagnosis, std::string_view key) {
  const auto found = std::ranges::find(diagnosis.fusions, key, &SeenFusion::key);
  return found == diagnosis.fusions.end() ? nullptr : &*found;
}

TEST(KnownFusions, TheConvolutionIsLeft) {
  const Diagnosis diagnosis = DiagnosisOf({kConv, kBn, kRelu});
  const Finding* found = FindingWith(diagnosis, "op.unfused/conv_bn_act");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 300 * kUs);
  EXPECT_EQ(found->Title(), "Conv + BN + activation run unfused");
  EXPECT_EQ(MetricIn(*found, "calls_per_step"), 1);
  EXPECT_EQ(MetricIn(*found, "time_per_step"), 800 * kUs);
  ASSERT_FALSE(found->evidence.empty());
  EXPECT_EQ(found->evidence[0].name, "BNInfer");
  const SeenFusion* seen = SeenIn(diagnosis, "op.unfused/conv_bn_act");
  ASSERT_NE(seen, nullptr);
  EXPECT_TRUE(seen->is_finding);
  EXPECT_EQ(seen->gone, 300 * kUs);
  EXPECT_EQ(seen->saves, found->gain);
}

TEST(KnownFusions, WhatBreaksItIsNamedAndGoes) {
  const Diagnosis diagnosis = DiagnosisOf({kConv, kTransData, kBn, kRelu});
  const Finding* found = FindingWith(diagnosis, "op.unfused/conv_bn_act/TransData");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 350 * kUs);
  EXPECT_EQ(found->Title(), "TransData breaks Conv + BN + activation");
  EXPECT_EQ(FindingWith(diagnosis, "op.format"), nullptr) << "the conversion is told already";
}

TEST(KnownFusions, DropoutOnlyMoves) {
  const Diagnosis diagnosis =
      DiagnosisOf({kConv, {"DropOutDoMask", 80 * kUs}, kRelu, {"Exp", 10 * kUs}});
  const Finding* found = FindingWith(diagnosis, "op.unfused/conv_act/Dropout");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 100 * kUs);
}

TEST(KnownFusions, StatisticsOfABatchComeFirst) {
  PartBuilder builder = StepsOf({kConv, {"BatchNorm", 200 * kUs}, kRelu});
  builder.Part().graph.nodes.back().adds_gradients = true;  // it learns
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()});
  const Finding* found = FindingWith(diagnosis, "op.unfused/conv_bn_act");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 100 * kUs) << "the activation alone";
}

TEST(KnownFusions, KernelsOfAnotherStreamAreNoChain) {
  PlantedKernel elsewhere = kBn;
  elsewhere.stream = 7;
  const Diagnosis diagnosis = DiagnosisOf({kConv, elsewhere, kRelu});
  EXPECT_TRUE(diagnosis.fusions.empty());
  EXPECT_EQ(diagnosis.known_fusions, KnownFusions());
}

MPA_REFUTES(KnownFusions, WhatDoesNotFlowIsNoChain, "op.unfused");
TEST(KnownFusions, WhatDoesNotFlowIsNoChain) {
  const auto with_outputs = [](const char* outputs) {
    PartBuilder builder = StepsOf({kConv, kBn, kRelu});
    builder.Kind("Conv2D").outputs = builder.NameOf(outputs);
    return DiagnoseJob({builder.Build()});
  };
  // All read 64,64.
  EXPECT_EQ(SeenIn(with_outputs("32,64"), "op.unfused/conv_bn_act"), nullptr);
  EXPECT_NE(SeenIn(with_outputs("8,8,64"), "op.unfused/conv_bn_act"), nullptr) << "a view";
  EXPECT_NE(SeenIn(with_outputs("1;64,64"), "op.unfused/conv_bn_act"), nullptr);
}

TEST(KnownFusions, ABiasIsSmallerThanTheProduct) {
  const auto added = [](const char* shapes) {
    PartBuilder builder =
        StepsOf({{"MatMulV3", 500 * kUs, TimeCategory::kMatmul}, {"Add", 200 * kUs}});
    builder.Kind("Add").shapes = builder.NameOf(shapes);
    return DiagnoseJob({builder.Build()});
  };
  EXPECT_NE(SeenIn(added("64,64;64"), "op.unfused/matmul_bias"), nullptr);
  EXPECT_EQ(SeenIn(added("64,64;64,64"), "op.unfused/matmul_bias"), nullptr) << "a residual";
}

TEST(KnownFusions, TheLongestChainHasTheKernels) {
  const Diagnosis diagnosis = DiagnosisOf({{"MatMulV3", 500 * kUs, TimeCategory::kMatmul},
                                           {"SoftmaxV2", 200 * kUs},
                                           {"MatMulV2", 400 * kUs, TimeCategory::kMatmul}});
  ASSERT_EQ(diagnosis.fusions.size(), 1u);
  EXPECT_EQ(diagnosis.fusions[0].key, "op.unfused/attention");
  EXPECT_EQ(diagnosis.fusions[0].gone, 200 * kUs) << "both products are computed all the same";
}

TEST(KnownFusions, ShortOnesAreToldWithTheChecks) {
  const Diagnosis diagnosis =
      DiagnosisOf({{"Conv2D", 20 * kUs, TimeCategory::kConvolution}, {"Relu", 10 * kUs}});
  EXPECT_EQ(FindingWith(diagnosis, "op.unfused/conv_act"), nullptr);
  const SeenFusion* seen = SeenIn(diagnosis, "op.unfused/conv_act");
  ASSERT_NE(seen, nullptr);
  EXPECT_FALSE(seen->is_finding);
  EXPECT_EQ(seen->saves, 10 * kUs);
  const std::string json = DiagnosisJson(diagnosis, {});
  EXPECT_NE(json.find("\"op.unfused/conv_act\""), std::string::npos);
  EXPECT_NE(json.find("\"known\": " + std::to_string(KnownFusions())), std::string::npos);
}

TEST(KnownFusions, OperatorsTellThemOnGpus) {
  PartBuilder builder = StepsOf({{"implicit_gemm", 500 * kUs, TimeCategory::kConvolution},
                                 {"bn_fw_inf", 200 * kUs},
                                 {"vectorized_elementwise", 100 * kUs}});
  RankDiagnosis& part = builder.Part();
  part.source = kGpuSource;
  const auto is_judged = [](const Diagnosis& diagnosis) {
    return std::ranges::find(diagnosis.not_judged, &kOpUnfused, &NotJudged::type) ==
           diagnosis.not_judged.end();
  };
  const Diagnosis unknown = DiagnoseJob({builder.Build()});
  EXPECT_EQ(unknown.known_fusions, 0u) << "nothing tells what they do";
  EXPECT_FALSE(is_judged(unknown));
  part.operators.of_node.assign(part.graph.nodes.size(), KernelOperators::kNone);
  const std::vector<std::string> operators = {"aten::conv2d", "aten::batch_norm", "aten::relu_",
                                              "aten::scaled_dot_product_attention"};
  std::size_t next = 0;
  for (std::size_t i = 0; i < part.graph.nodes.size(); ++i) {
    if (part.graph.nodes[i].kind != NodeKind::kKernel) continue;
    part.operators.of_node[i] = static_cast<std::uint32_t>(part.operators.rows.size());
    part.operators.rows.push_back({builder.NameOf(operators[next++ % operators.size()]), 0});
  }
  const Diagnosis diagnosis = DiagnoseJob({builder.Build()});
  const Finding* found = FindingWith(diagnosis, "op.unfused/conv_bn_act");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->gain, 300 * kUs);
  EXPECT_TRUE(is_judged(diagnosis));
}

}  // namespace
}  // namespace mpa
