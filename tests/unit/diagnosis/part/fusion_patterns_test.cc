// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/part/fusion_patterns.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace mpa {
namespace {

TEST(FusionPatterns, TypesOfKernelsAndTheirNames) {
  for (const char* conv : {"Conv2D", "Conv2D1", "Conv2D_12", "aclnnConvolution_Conv2D_Conv2D"})
    EXPECT_TRUE(HasRole(RolesOfKernel(conv), "conv")) << conv;
  for (const char* act : {"Relu", "Relu6", "aclnnInplaceRelu_Relu_Relu", "GeluV2", "Swish"})
    EXPECT_TRUE(HasRole(RolesOfKernel(act), "act")) << act;
  for (const char* product : {"MatMul", "MatMulV2", "MatMulV3", "BatchMatMulV2"})
    EXPECT_TRUE(HasRole(RolesOfKernel(product), "product")) << product;
  EXPECT_TRUE(HasRole(RolesOfKernel("trans_TransData_2"), "trans_data"));
  // They begin like others, or end like them.
  for (const char* other : {"LayerNormV3Grad", "AddcMul", "MulNoNan", "ReluGrad", "SoftmaxGrad",
                            "LogSoftmaxV2", "MatmulAllReduce", ""})
    EXPECT_EQ(RolesOfKernel(other) & RolesOfKernel("Add"), FusionRoles()) << other;
  EXPECT_FALSE(HasRole(RolesOfKernel("LayerNormV3Grad"), "layer_norm"));
  EXPECT_FALSE(HasRole(RolesOfKernel("LogSoftmaxV2"), "softmax"));
  EXPECT_FALSE(HasRole(RolesOfKernel("MatmulAllReduce"), "product"));
}

TEST(FusionPatterns, OperatorsOfTheHost) {
  EXPECT_TRUE(HasRole(RolesOfOperator("aten::conv2d"), "conv"));
  EXPECT_TRUE(HasRole(RolesOfOperator("aten::relu_"), "act"));
  EXPECT_TRUE(HasRole(RolesOfOperator("aten::linear"), "product"));
  EXPECT_EQ(RolesOfOperator("relu"), FusionRoles()) << "no operator of the library";
  EXPECT_EQ(RolesOfOperator("aten::relu_backward"), FusionRoles());
}

TEST(FusionPatterns, WhatBreaksThem) {
  const auto breaker = [](const char* type) {
    const FusionBreaker* found = BreakerOf(RolesOfKernel(type));
    return found == nullptr ? std::string() : std::string(found->name);
  };
  EXPECT_EQ(breaker("TransData"), "TransData");
  EXPECT_EQ(breaker("aclnnCast_CastAiCore_Cast"), "Cast");
  EXPECT_EQ(breaker("DropOutDoMaskV3"), "Dropout");
  EXPECT_EQ(breaker("Reshape"), "Reshape");
  EXPECT_EQ(breaker("TransposeD"), "Transpose");
  EXPECT_EQ(breaker("Relu"), "");
}

// The table is built when it is first asked for, and refuses roles that are not there.
TEST(FusionPatterns, PlacesAreDistinct) {
  std::set<std::string> places;
  std::size_t with_chains = 0;
  for (const FusionPattern& pattern : FusionPatterns()) {
    if (pattern.chains.empty()) {
      EXPECT_FALSE(pattern.runs.empty());
      continue;
    }
    ++with_chains;
    EXPECT_TRUE(places.emplace(pattern.place).second) << pattern.place;
    EXPECT_FALSE(pattern.pieces.empty()) << pattern.place;
    EXPECT_FALSE(pattern.remedy.empty() && pattern.api.empty()) << pattern.place;
    for (const FusionChain& chain : pattern.chains) {
      EXPECT_GE(chain.size(), 2u);
      EXPECT_FALSE(chain.front().optional) << "what a chain begins with is always there";
    }
  }
  EXPECT_EQ(KnownFusions(), with_chains);
}

}  // namespace
}  // namespace mpa
