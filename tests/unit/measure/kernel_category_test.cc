// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/kernel_category.h"

#include <gtest/gtest.h>

#include "support/rank_builder.h"

namespace mpa {
namespace {

using test::RankBuilder;

Category CategoryOf(const RankBuilder& rank, std::size_t kernel = 0) {
  return KernelClassifier(rank.trace).Classify(kernel);
}

// The category of a kernel that no operator is known to have launched.
Category Alone(std::string_view name, std::string_view type,
               std::string_view core = "AI_VECTOR_CORE") {
  RankBuilder rank;
  rank.Kernel(name, type, core);
  return CategoryOf(rank);
}

// The category of a kernel that was launched while `op` ran.
Category LaunchedBy(std::string_view op, std::string_view core, std::string_view name = "k",
                    std::string_view type = "") {
  RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  rank.Op(op, 100, 200, thread);
  rank.Launch(7, 150, thread);
  rank.trace.kernels.link.at(rank.Kernel(name, type, core)) = 7;
  return CategoryOf(rank);
}

TEST(CoreOf, GoesByTheCountersWhereThereAreAny) {
  RankBuilder rank;
  for (const char* core : {"AI_VECTOR_CORE", "AI_VECTOR_CORE", "AI_CORE", "AI_VECTOR_CORE"}) {
    rank.Kernel("k", "", core);
  }
  Kernels& kernels = rank.trace.kernels;
  kernels.aic_total.Stored()[0] = 5;
  kernels.aic_mac.Stored()[1] = 5;
  kernels.aiv_total.Stored()[1] = 900;
  kernels.aic_total.Stored()[2] = 0;
  kernels.aic_mac.Stored()[2] = 0;
  EXPECT_EQ(CoreOf(rank.trace, 0), Core::kCube);
  EXPECT_EQ(CoreOf(rank.trace, 1), Core::kCube);
  EXPECT_EQ(CoreOf(rank.trace, 2), Core::kVector) << "its cube did nothing";
  EXPECT_EQ(CoreOf(rank.trace, 3), Core::kVector);  // no counters: by the type of core
}

TEST(CoreOf, KnowsTheCoreTypesOfTextFilesAndDatabases) {
  const auto core_of = [](std::string_view core) {
    RankBuilder rank;
    return CoreOf(rank.trace, rank.Kernel("k", "", core));
  };
  for (const char* core : {"AI_CORE", "MIX_AIC", "KERNEL_AICORE", "KERNEL_MIX_AIC"}) {
    EXPECT_EQ(core_of(core), Core::kCube) << core;
  }
  for (const char* core : {"AI_VECTOR_CORE", "MIX_AIV", "KERNEL_AIVEC", "KERNEL_MIX_AIV"}) {
    EXPECT_EQ(core_of(core), Core::kVector) << core;
  }
  for (const char* core : {"", "AI_CPU", "DSA_SQE"})
    EXPECT_EQ(core_of(core), Core::kUnknown) << core;
}

TEST(KernelClassifier, GoesByTheOperatorTypeWithoutAnOperator) {
  EXPECT_EQ(Alone("k", "FlashAttentionScore"), Category::kFlashAttentionForwardCube);
  EXPECT_EQ(Alone("k", "FlashAttentionScoreGrad"), Category::kFlashAttentionBackwardCube);
  EXPECT_EQ(Alone("k", "FusedInferAttentionScore"), Category::kFlashAttentionForwardCube);
  EXPECT_EQ(Alone("k", "Conv2D"), Category::kConvForwardCube);
  EXPECT_EQ(Alone("k", "Conv2DBackpropFilter"), Category::kConvBackwardCube);
  EXPECT_EQ(Alone("k", "BatchMatMulV2"), Category::kMatmulCube);
  EXPECT_EQ(Alone("k", "DepthwiseConv2D", "AI_CORE"),
            Category::kOtherCube);  // only at the beginning
}

TEST(KernelClassifier, GoesByTheCoreWhereTheTypeSaysNothing) {
  EXPECT_EQ(Alone("k", "Add", "AI_CORE"), Category::kOtherCube);
  EXPECT_EQ(Alone("k", "Add"), Category::kVectorNoTrans);
  EXPECT_EQ(Alone("k", "Add", ""), Category::kNone);
  for (const char* name : {"aclnnCast_1", "TransData_2", "aclnnPermute_Transpose"}) {
    EXPECT_EQ(Alone(name, "x"), Category::kVectorTrans) << name;
    EXPECT_EQ(Alone(name, "x", "AI_CORE"), Category::kOtherCube) << name;
  }
}

TEST(KernelClassifier, PutsPagedAttentionAboveEverything) {
  EXPECT_EQ(Alone("k", "PagedAttentionOperation"), Category::kPagedAttention);
  EXPECT_EQ(LaunchedBy("aten::mm", "AI_CORE", "MatmulAllReduce", "PagedAttention"),
            Category::kPagedAttention);
}

TEST(KernelClassifier, PutsTensorMovesAndFusedCommunicationAboveTheOperator) {
  EXPECT_EQ(LaunchedBy("aten::mm", "AI_CORE", "aclnnInplaceCopy_TensorMove_1"),
            Category::kTensorMove);
  EXPECT_EQ(LaunchedBy("aten::mm", "AI_CORE", "AllGatherMatmul"), Category::kMc2);
  EXPECT_EQ(Alone("MatmulReduceScatter", "MatMul"), Category::kMc2);
  EXPECT_EQ(Alone("matmulallreduce", "MatMul"), Category::kMc2);
}

TEST(KernelClassifier, KnowsThoseByTheirFullNamesOnly) {
  EXPECT_EQ(Alone("aclnnAllGatherMatmul_1", "Add", "AI_CORE"), Category::kOtherCube);
  EXPECT_EQ(Alone("TensorMove", "TensorMove"), Category::kVectorNoTrans);
  EXPECT_EQ(Alone("aclnnInplaceCopy_1", "ViewCopy"), Category::kVectorNoTrans);
}

TEST(KernelClassifier, GoesByTheLaunchingOperatorAndTheCore) {
  EXPECT_EQ(LaunchedBy("npu::npu_fusion_attention", "AI_CORE"),
            Category::kFlashAttentionForwardCube);
  EXPECT_EQ(LaunchedBy("npu::npu_fusion_attention_grad", "AI_VECTOR_CORE"),
            Category::kFlashAttentionBackwardVector);
  EXPECT_EQ(LaunchedBy("FlashAttnFunc", "AI_VECTOR_CORE"), Category::kFlashAttentionForwardVector);
  EXPECT_EQ(LaunchedBy("aten::convolution", "AI_CORE"), Category::kConvForwardCube);
  EXPECT_EQ(LaunchedBy("aten::convolution_backward", "AI_CORE"), Category::kConvBackwardCube);
  EXPECT_EQ(LaunchedBy("aten::conv2d", "AI_VECTOR_CORE"), Category::kConvForwardVector);
  for (const char* op : {"aten::mm", "aten::addmm", "aten::bmm", "aten::matmul"}) {
    EXPECT_EQ(LaunchedBy(op, "AI_CORE"), Category::kMatmulCube) << op;
    EXPECT_EQ(LaunchedBy(op, "AI_VECTOR_CORE"), Category::kMatmulVector) << op;
  }
}

TEST(KernelClassifier, BelievesTheOperatorMoreThanTheType) {
  EXPECT_EQ(LaunchedBy("aten::mm", "AI_CORE", "k", "FlashAttentionScore"), Category::kMatmulCube);
  EXPECT_EQ(LaunchedBy("aten::add", "AI_CORE", "k", "MatMul"), Category::kMatmulCube);
}

TEST(KernelClassifier, GuessesNoCoreUnderAnOperator) {
  EXPECT_EQ(LaunchedBy("aten::mm", ""), Category::kNone);
}

TEST(KernelClassifier, CountsBothEndsOfAnOperatorAsInside) {
  const auto launched_at = [](TimeNs time) {
    RankBuilder rank;
    const std::int32_t thread = rank.Thread(1);
    rank.Op("aten::mm", 100, 200, thread);
    rank.Launch(7, time, thread);
    rank.trace.kernels.link.at(rank.Kernel("k", "", "AI_CORE")) = 7;
    return CategoryOf(rank);
  };
  EXPECT_EQ(launched_at(99), Category::kOtherCube);
  EXPECT_EQ(launched_at(100), Category::kMatmulCube);
  EXPECT_EQ(launched_at(200), Category::kMatmulCube);
  EXPECT_EQ(launched_at(201), Category::kOtherCube);
}

TEST(KernelClassifier, TakesTheOutermostOfNestedOperators) {
  RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  rank.Op("aten::mm", 120, 180, thread);
  rank.Op("aten::conv2d", 100, 200, thread);
  rank.Op("aten::bmm", 300, 400, thread);
  rank.Launch(7, 150, thread);
  rank.Launch(8, 350, thread);
  rank.trace.kernels.link.at(rank.Kernel("k", "", "AI_CORE")) = 7;
  rank.trace.kernels.link.at(rank.Kernel("k", "", "AI_CORE")) = 8;
  EXPECT_EQ(CategoryOf(rank, 0), Category::kConvForwardCube);
  EXPECT_EQ(CategoryOf(rank, 1), Category::kMatmulCube);
}

TEST(KernelClassifier, DoesNotMixTheOperatorsOfThreads) {
  RankBuilder rank;
  const std::int32_t first = rank.Thread(1);
  const std::int32_t second = rank.Thread(2);
  rank.Op("aten::mm", 100, 200, first);
  rank.Op("aten::add", 100, 200, second);
  rank.Launch(7, 150, second);
  rank.trace.kernels.link.at(rank.Kernel("k", "", "AI_CORE")) = 7;
  EXPECT_EQ(CategoryOf(rank), Category::kOtherCube);
}

TEST(KernelClassifier, LooksInAllThreadsWhenTheLaunchingOneHasNoOperators) {
  RankBuilder rank;
  const std::int32_t first = rank.Thread(1);
  rank.Op("aten::mm", 100, 200, first);
  rank.Launch(7, 150, rank.Thread(99));
  rank.trace.kernels.link.at(rank.Kernel("k", "", "AI_CORE")) = 7;
  EXPECT_EQ(CategoryOf(rank), Category::kMatmulCube);
}

TEST(KernelClassifier, TakesConvolutionsOfTheBackwardThreadForBackward) {
  for (const char* op : {"aten::convolution", "npu::npu_fusion_attention"}) {
    RankBuilder rank;
    const std::int32_t thread = rank.Thread(5);
    rank.trace.backward_tid = 5;
    rank.Op(op, 100, 200, thread);
    rank.Launch(7, 150, thread);
    rank.trace.kernels.link.at(rank.Kernel("k", "", "AI_CORE")) = 7;
    EXPECT_EQ(CategoryOf(rank), std::string_view(op) == "aten::convolution"
                                    ? Category::kConvBackwardCube
                                    : Category::kFlashAttentionForwardCube);
  }
}

TEST(KernelClassifier, TakesTheMasksOfTheUser) {
  KernelMasks masks;
  masks.flash_attention = {};
  masks.convolution = {"mine::"};
  masks.trans = {"move"};
  masks.mc2 = {"matmulallreduceaddrmsnorm"};
  RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  rank.Op("Mine::Fold", 100, 200, thread);
  rank.Op("npu::npu_fusion_attention", 300, 400, thread);
  rank.Launch(7, 150, thread);
  rank.Launch(8, 350, thread);
  const auto launched = [&](std::int64_t link, std::string_view core) {
    const std::size_t kernel = rank.Kernel("k", "", core);
    rank.trace.kernels.link.at(kernel) = link;
    return kernel;
  };
  const std::size_t fold = launched(7, "AI_CORE"), attention = launched(8, "AI_VECTOR_CORE");
  const std::size_t move = rank.Kernel("aclnnMove", "", "AI_VECTOR_CORE");
  const std::size_t cast = rank.Kernel("aclnnCast", "", "AI_VECTOR_CORE");
  const std::size_t fused = rank.Kernel("MatmulAllReduceAddRmsNorm", "", "AI_CORE");
  const std::size_t part = rank.Kernel("MatmulAllReduce", "", "AI_CORE");
  const KernelClassifier classifier(rank.trace, masks);
  EXPECT_EQ(classifier.Classify(fold), Category::kConvForwardCube);
  EXPECT_EQ(classifier.Classify(attention), Category::kVectorNoTrans);
  EXPECT_EQ(classifier.Classify(move), Category::kVectorTrans);
  EXPECT_EQ(classifier.Classify(cast), Category::kVectorNoTrans);
  EXPECT_EQ(classifier.Classify(fused), Category::kMc2);
  EXPECT_EQ(classifier.Classify(part), Category::kOtherCube) << "a whole name, no part of one";
}

TEST(KernelClassifier, GoesByTheNameOfTheKernelOnGpus) {
  const auto on_gpu = [](std::string_view name) {
    RankBuilder rank(DeviceKind::kGpu);
    rank.Kernel(name, "PagedAttention", "AI_CORE");  // types and cores mean nothing there
    return CategoryOf(rank);
  };
  for (const char* name : {"volta_sgemm_128", "void cutlass::Kernel", "GemvX", "Cijk_Ailk"}) {
    EXPECT_EQ(on_gpu(name), Category::kMatmulCube) << name;
  }
  EXPECT_EQ(on_gpu("implicit_convolve"), Category::kConvForwardCube);
  EXPECT_EQ(on_gpu("wgrad_alg0"), Category::kConvBackwardCube);
  EXPECT_EQ(on_gpu("igemm_wrw_gtcx3_nhwc"), Category::kConvBackwardCube);
  EXPECT_EQ(on_gpu("flash_bwd_kernel"), Category::kFlashAttentionBackwardCube);
  EXPECT_EQ(on_gpu("conv_something"), Category::kOtherCube) << "a cube kernel by the mask alone";
  for (const char* name : {"elementwise_kernel", "transpose_kernel"}) {
    EXPECT_EQ(on_gpu(name), Category::kVectorNoTrans) << name;
  }
}

// What one screen calls convolution is the same on every other: the operator decides. Only causes
// ask what the kernel itself does.
TEST(KernelClassifier, GivesTheWorkOfAnOperatorToItsClass) {
  RankBuilder rank;
  const std::int32_t thread = rank.Thread(1);
  rank.Op("aten::conv2d", 100, 200, thread);
  rank.Op("aten::mm", 300, 400, thread);
  rank.Launch(7, 150, thread);
  rank.Launch(8, 350, thread);
  const auto launched = [&](std::int64_t link, std::string_view type, std::string_view core) {
    const std::size_t kernel = rank.Kernel("k", type, core);
    rank.trace.kernels.link.at(kernel) = link;
    return kernel;
  };
  const std::size_t conv = launched(7, "Conv2D", "AI_CORE");
  const std::size_t layout = launched(7, "TransData", "AI_VECTOR_CORE");
  const std::size_t product = launched(8, "Cast", "AI_VECTOR_CORE");
  const std::size_t grouped = launched(8, "GroupedMatmul", "MIX_AIC");
  const std::size_t alone = rank.Kernel("k", "TransData", "AI_VECTOR_CORE");
  const std::size_t on_host = rank.Kernel("k", "Index", "AI_CPU");
  const std::size_t cube = rank.Kernel("k", "Gemm", "AI_CORE");
  const KernelClassifier classifier(rank.trace);
  EXPECT_EQ(classifier.ClassOf(conv), KernelClass::kConvolution);
  EXPECT_EQ(classifier.ClassOf(layout), KernelClass::kConvolution);
  EXPECT_EQ(classifier.OwnClassOf(layout), KernelClass::kFormat);
  EXPECT_EQ(classifier.ClassOf(product), KernelClass::kMatmul);
  EXPECT_EQ(classifier.ClassOf(grouped), KernelClass::kGroupedMatmul) << "a kind of product";
  EXPECT_EQ(classifier.ClassOf(alone), KernelClass::kFormat);
  EXPECT_EQ(classifier.ClassOf(on_host), KernelClass::kAiCpu);
  EXPECT_EQ(classifier.Classify(cube), Category::kOtherCube);
  EXPECT_EQ(classifier.ClassOf(cube), KernelClass::kOther) << "no part of what is called Matmul";
  EXPECT_EQ(classifier.OwnClassOf(cube), KernelClass::kMatmul);
}

}  // namespace
}  // namespace mpa
