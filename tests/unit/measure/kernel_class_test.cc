// SPDX-License-Identifier: Apache-2.0
// Names of kernels as their libraries write them.
#include "mpa/measure/kernel_class.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "mpa/mfu/flops.h"

namespace mpa {
namespace {

using enum KernelClass;

struct Named {
  KernelClass is;
  std::vector<std::string_view> names;
};

// From the sources and public traces of the libraries.
TEST(ClassOfName, KnowsTheKernelsOfTheLibraries) {
  const std::vector<Named> known = {
      {kMatmul,
       {"ampere_sgemm_128x64_tn", "volta_sgemm_32x32_sliced1x4_tn",
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn>",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas",
        "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_NNT",
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x256x32_MI16x16x1_SN",
        "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1",
        "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __nv_bfloat16>",
        "void gemmSN_TN_kernel<float, 128, 16, 2, 4, 8, 9, false>",
        "triton_tem_fused_addmm_relu_3"}},
      {kGroupedMatmul, {"fused_moe_kernel", "void deep_gemm::m_grouped_gemm_fp8<128>"}},
      {kConvolution,
       {"volta_scudnn_128x64_relu_interior_nn_v1", "cudnn_ampere_scudnn_128x64_relu_small_nn_v1",
        "turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_medium_nhwc_tn_v1",
        "void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>",
        "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>",
        "void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1, false, true, true>",
        "void explicit_convolve_sgemm<float, int, 1024, 5, 5, 3, 3, 3, 0, false>",
        "void cudnn::winograd_nonfused::winogradForwardOutput4x4<float, float>",
        "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw",
        "void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_64x128>",
        "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS_4gemm9Gemm",
        "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32", "igemm_wrw_gtcx2_nhwc_bf16_bx0",
        "_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3",
        "_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weightINS_47Gridwise",
        "Conv2D1"}},
      {kAttention,
       {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>",
        "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", "flash_attn_fwd_sm90", "attn_fwd",
        "fmha_cutlassF_bf16_aligned_64x128_rf_sm80", "_ZN7ck_tile6kentryI11FmhaFwdKernel",
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16",
        "kernel_unified_attention_3d", "void vllm::paged_attention_v2_kernel<unsigned short, 128>",
        "void flashinfer::BatchPrefillWithPagedKVCacheKernel<KTraits>"}},
      {kFormat,
       {"void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>",
        "batched_transpose_16x64_pack_1x4_ediv_1x2_half", "transpose_CNHW2NCHW_V2_2D_WG_off64",
        "aclnnInplaceCopy_TransposeAiCore_Transpose", "trans_TransData_17",
        "aclnnConvolution_TransData_TransData"}},
      {kMove,
       {"__amd_rocclr_copyBuffer",
        "void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda(int)>"}},
      {kVector,
       {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
        "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>",
        "triton_poi_fused__scaled_dot_product_flash_attention_clone_3",
        "triton_red_fused_convolution_native_batch_norm_2", "_finalize_matmul_scatter_bf16",
        "void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16, __hip_bfloat16>",
        "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>",
        "aclnnAdd_AddAiCore_Add", "17", "_", ""}},
  };
  for (const Named& of_class : known) {
    for (const std::string_view name : of_class.names) {
      EXPECT_EQ(ClassOfName(name), of_class.is) << name;
    }
  }
}

TEST(ClassOfName, AgreesWithTheTypeOfNpuKernels) {
  EXPECT_EQ(ClassOfName("aclnnMm_MatMulV3Common_MatMulV3"), kMatmul);
  for (const char* type : {"MatMulV3", "BatchMatMulV2", "GroupedMatmul", "Conv2DBackpropInput",
                           "FlashAttentionScoreGrad", "TransData", "Cast", "TensorMove"}) {
    EXPECT_EQ(ClassOfName(type), ClassOfType(type)) << type;
  }
  EXPECT_EQ(ClassOfType("Add"), kOther);
}

TEST(IsCommunicationKernel, KnowsLibrariesThatAreNotNccl) {
  for (const char* name :
       {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "NCCLDevKernel_SendRecv", "mscclKernel_Sum_half_Simple_false", "oneccl_allreduce_pcie",
        "void c10d::symmetric_memory::multimem_all_reduce_kernel<c10::BFloat16, 16>",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
        "_ZN5aiter26cross_device_reduce_2stageIDF16bLi8EEEvPNS_8RankData", "hcom_allReduce__1_0",
        "void deep_ep::internode_ll::dispatch<true, false, 7168>",
        "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<1>"}) {
    EXPECT_TRUE(IsCommunicationKernel(name)) << name;
    EXPECT_EQ(ClassOfName(name), kCommunication) << name;
  }
  for (const char* name : {"my_nccl_like", "Add", "", "void reduce_kernel<512, 1>"}) {
    EXPECT_FALSE(IsCommunicationKernel(name)) << name;
  }
}

TEST(IsCommunicationKernel, TakesTheListOfTheUser) {
  KernelMasks masks;
  masks.communication = {"ours_"};
  EXPECT_TRUE(IsCommunicationKernel("void Ours_Exchange<int>", masks));
  EXPECT_FALSE(IsCommunicationKernel("ncclKernel_AllReduce", masks));
}

TEST(IsCopyName, KnowsWhatExportersCallCopies) {
  using enum CopyDirection;
  const std::vector<std::pair<std::string_view, CopyDirection>> copies = {
      {"Memcpy HtoD (Pageable -> Device)", kToDevice},
      {"CopyHostToDevice", kToDevice},
      {"Memcpy M2D", kToDevice},
      {"Memcpy DtoH (Device -> Pinned)", kToHost},
      {"CopyDeviceToHost", kToHost},
      {"Memcpy D2M", kToHost},
      {"Memcpy DtoD (Device -> Device)", kWithinDevice},
      {"Memset (Device)", kWithinDevice}};
  for (const auto& [name, direction] : copies) {
    EXPECT_TRUE(IsCopyName(name)) << name;
    EXPECT_EQ(DirectionOfCopyName(name), direction) << name;
  }
  EXPECT_FALSE(IsCopyName("void at::native::CatArrayBatchedCopy<float>"));
}

// The names of rocBLAS, cuBLAS, PyTorch, Apex and vLLM are theirs.
TEST(KernelClass, KnowsTheKernelsThatFindingsAreAbout) {
  for (const char* type : {"BatchMatMulV2", "TransposeBatchMatMul", "bmm",
                           "void gemmBatchedSIMTKernel<float>", "volta_sgemm_batched_128x64"})
    EXPECT_TRUE(IsBatchedProduct(type)) << type;
  for (const char* type : {"MatMulV3", "BatchMatMulReduceScatterAlltoAll", "GroupedMatmul",
                           "void at::native::CatArrayBatchedCopy<float>"})
    EXPECT_FALSE(IsBatchedProduct(type)) << type;
  EXPECT_TRUE(IsSoftmax("SoftmaxV2"));
  EXPECT_TRUE(IsSoftmax("void (anonymous namespace)::softmax_warp_forward<float>"));
  EXPECT_FALSE(IsSoftmax("void fmha::attention_softmax_kernel")) << "it is fused already";
  for (const char* type :
       {"ApplyAdamWV2", "ApplyMomentum", "void multi_tensor_apply_kernel<AdamFunctor<float>>",
        "void multi_tensor_apply_kernel<FusedAdamMathFunctor<float>>"})
    EXPECT_TRUE(IsFusedUpdate(type)) << type;
  EXPECT_FALSE(IsFusedUpdate("void multi_tensor_apply_kernel<PointwiseOpListFunctor<float>>"));
  for (const char* type : {"PagedAttentionMaskNdKernel", "void vllm::paged_attention_v1_kernel",
                           "void vllm::reshape_and_cache_kernel", "FusedInferAttentionScore"})
    EXPECT_TRUE(IsInference(type)) << type;
  EXPECT_FALSE(IsInference("FlashAttentionScore"));
}

// The formulas for operations know more of a type, and nothing else.
TEST(ClassOfType, IsThatOfTheFormulas) {
  for (const char* type : {"MatMulV2", "QuantBatchMatmulV3", "TransposeBatchMatMul"}) {
    ASSERT_NE(FlopsFamilyOf(type), FlopsFamily::kNone) << type;
    EXPECT_EQ(ClassOfType(type), kMatmul) << type;
  }
  for (const char* type : {"AllGatherMatmul", "MatmulReduceScatter", "MatmulAllReduceAddRmsNorm"}) {
    ASSERT_EQ(FlopsFamilyOf(type), FlopsFamily::kCollectiveMatMul) << type;
    EXPECT_EQ(ClassOfType(type), kMc2) << type;
  }
  for (const char* type : {"GroupedMatmulV5", "GroupedMatmulSwigluQuant", "GroupedMatmulAdd",
                           "GroupedMatmulFinalizeRouting"}) {
    ASSERT_NE(FlopsFamilyOf(type), FlopsFamily::kNone) << type;
    EXPECT_EQ(ClassOfType(type), kGroupedMatmul) << type;
  }
  for (const char* type : {"Conv2D", "Conv3DV2", "Conv2DBackpropFilterD", "QuantConv2D"}) {
    ASSERT_NE(FlopsFamilyOf(type), FlopsFamily::kNone) << type;
    EXPECT_EQ(ClassOfType(type), kConvolution) << type;
  }
  for (const char* type : {"FlashAttentionScore", "PromptFlashAttention", "IncreFlashAttention",
                           "FusedInferAttentionScoreV2"}) {
    ASSERT_NE(FlopsFamilyOf(type), FlopsFamily::kNone) << type;
    EXPECT_EQ(ClassOfType(type), kAttention) << type;
  }
}

}  // namespace
}  // namespace mpa
