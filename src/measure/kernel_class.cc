// SPDX-License-Identifier: Apache-2.0
// What a kernel does, by the words in its name: operator types of CANN, and kernels of cuBLAS,
// cuDNN, CUTLASS, rocBLAS, MIOpen, Composable Kernel, Triton, ATen and serving engines.
#include "mpa/measure/kernel_class.h"

#include <algorithm>
#include <array>
#include <string>

#include "mpa/base/text.h"

namespace mpa {
namespace {

// Kernels that torch.compile generates list the operators they fuse: pointwise work and reductions,
// whatever these are.
bool IsGeneratedVector(std::string_view lower) {
  constexpr std::array<std::string_view, 3> kBegins = {"triton_poi_", "triton_red_", "triton_per_"};
  for (const std::string_view begin : kBegins) {
    if (lower.starts_with(begin)) return true;
  }
  return false;
}

// What the words of fused operators tell, in types and names alike.
KernelClass FusedClass(std::string_view lower) {
  if (FitsMask(lower, BuiltInMasks().mc2)) return KernelClass::kMc2;
  if (ContainsAny(lower, {"flashattention", "fusedinferattention", "pagedattention", "sdpa",
                          "flash_fwd", "flash_bwd"})) {
    return KernelClass::kAttention;
  }
  return ContainsAny(lower, {"groupedmatmul"}) ? KernelClass::kGroupedMatmul : KernelClass::kOther;
}

bool IsAttentionName(std::string_view lower) {
  // reshape_and_cache_flash stores keys and values, it attends to nothing.
  if (ContainsAny(lower, {"and_cache", "store_kvcache", "merge_attn"})) return false;
  return lower.starts_with("flash_") ||
         ContainsAny(lower, {"fmha", "attn_fwd", "attn_bwd", "attention", "flashattn", "flash::",
                             "flash_attn", "flash_splitkv", "withpagedkvcache", "withkvcache"});
}

// cuDNN names its kernels by the chip: volta_scudnn_..., turing_fp16_s1688cudnn_...
bool IsCudnnOfChip(std::string_view lower) {
  constexpr std::array<std::string_view, 4> kChips = {"maxwell_", "volta_", "turing_", "ampere_"};
  if (lower.find("scudnn") != std::string_view::npos) return true;
  for (const std::string_view chip : kChips) {
    if (lower.starts_with(chip)) return lower.find("cudnn") != std::string_view::npos;
  }
  return false;
}

bool IsConvolutionName(std::string_view lower) {
  return IsCudnnOfChip(lower) || ContainsAny(lower, {"fprop",
                                                     "dgrad",
                                                     "wgrad",
                                                     "winograd",
                                                     "implicit_gemm",
                                                     "convolve",
                                                     "convolution",
                                                     "conv1d",
                                                     "conv2d",
                                                     "conv3d",
                                                     "grouped_conv",
                                                     "conv_depthwise",
                                                     "miopensp3asmconv",
                                                     "gridwise_conv",
                                                     "igemm_fwd_",
                                                     "igemm_bwd_",
                                                     "igemm_wrw_",
                                                     "bwd_weight",
                                                     "bwd_data",
                                                     "fft2d_"});
}

bool IsGroupedName(std::string_view lower) {
  return ContainsAny(lower, {"grouped_gemm", "groupedgemm", "group_gemm", "groupgemm", "moe_gemm",
                             "moegemm", "fused_moe_kernel", "groupproblemshape"});
}

bool IsMatmulName(std::string_view lower) {
  // The end of a product that was computed in parts sums and scatters them.
  if (lower.starts_with("_finalize_matmul")) return false;
  return ContainsAny(lower, {"gemm", "gemv", "matmul", "cijk_", "nvjet", "cutlass", "flatmm",
                             "triton_mm", "_mm_kernel"}) ||
         (lower.starts_with("triton_tem_") && ContainsAny(lower, {"mm"}));
}

bool IsFormatName(std::string_view lower) {
  return ContainsAny(
      lower, {"transpose", "transdata", "nchwtonhwc", "nhwctonchw", "nchw2nhwc", "nhwc2nchw"});
}

bool IsMoveName(std::string_view lower) {
  return ContainsAny(lower, {"rocclr_copybuffer", "direct_copy_kernel"});
}

// Kernels of CANN end with their type, "aclnnMm_MatMulV3Common_MatMulV3". A counter may follow,
// "trans_TransData_0". Empty for names of another form: types begin with a capital letter.
std::string_view TypeInName(std::string_view name) {
  if (name.starts_with("_Z")) return {};  // mangled
  const std::size_t counter = name.find_last_not_of("0123456789");
  if (counter != std::string_view::npos && name[counter] == '_') name = name.substr(0, counter);
  const std::string_view type = name.substr(name.rfind('_') + 1);
  const bool is_type = !type.empty() && type[0] >= 'A' && type[0] <= 'Z' &&
                       type.find_first_of(":<( ") == std::string_view::npos;
  return is_type ? type : std::string_view();
}

// "void vllm::cross_device_reduce_1stage" and the mangled "_ZN4vllm26cross_device_reduce_1stage"
// have a word that begins with "cross_device_reduce"; "my_nccl_like" has none of "nccl".
bool HasWordBeginning(std::string_view lower, std::string_view text) {
  for (std::size_t at = lower.find(text); at != std::string_view::npos;
       at = lower.find(text, at + 1)) {
    const char before = at == 0 ? ' ' : lower[at - 1];
    if (before != '_' && (before < 'a' || before > 'z')) return true;
  }
  return false;
}

}  // namespace

Core CoreNamed(std::string_view core) {
  if (IsOneOf(core, {"AI_CORE", "MIX_AIC", "KERNEL_AICORE", "KERNEL_MIX_AIC"})) return Core::kCube;
  if (IsOneOf(core, {"AI_VECTOR_CORE", "MIX_AIV", "KERNEL_AIVEC", "KERNEL_MIX_AIV"})) {
    return Core::kVector;
  }
  return Core::kUnknown;
}

KernelClass ClassOfType(std::string_view type) {
  const std::string lower = ToLower(type);
  const KernelClass fused = FusedClass(lower);
  if (fused != KernelClass::kOther) return fused;
  if (lower.starts_with("conv") || lower.starts_with("quantconv")) return KernelClass::kConvolution;
  if (ContainsAny(lower, {"matmul", "gemm"}) || lower == "mm" || lower == "bmm") {
    return KernelClass::kMatmul;
  }
  if (lower.starts_with("transdata") || lower.starts_with("transpose") || lower == "cast") {
    return KernelClass::kFormat;
  }
  if (IsOneOf(lower, {"tensormove", "viewcopy", "identity"})) return KernelClass::kMove;
  return KernelClass::kOther;
}

KernelClass ClassOfKernelCall(std::string_view name) {
  const std::string lower = ToLower(name);
  return IsGeneratedVector(lower) ? KernelClass::kOther : FusedClass(lower);
}

KernelClass ClassOfName(std::string_view name) {
  const std::string lower = ToLower(name);
  if (IsGeneratedVector(lower)) return KernelClass::kVector;
  const KernelClass fused = FusedClass(lower);
  if (fused != KernelClass::kOther) return fused;
  const KernelClass typed = ClassOfType(TypeInName(name));
  if (typed != KernelClass::kOther) return typed;
  if (IsCommunicationKernel(name)) return KernelClass::kCommunication;
  if (IsAttentionName(lower)) return KernelClass::kAttention;
  if (IsConvolutionName(lower)) return KernelClass::kConvolution;
  if (IsGroupedName(lower)) return KernelClass::kGroupedMatmul;
  if (IsMatmulName(lower)) return KernelClass::kMatmul;
  if (IsFormatName(lower)) return KernelClass::kFormat;
  return IsMoveName(lower) ? KernelClass::kMove : KernelClass::kVector;
}

bool IsBatchedProduct(std::string_view type) {
  const bool is_product =
      ClassOfType(type) == KernelClass::kMatmul || ClassOfName(type) == KernelClass::kMatmul;
  return is_product && ContainsAny(ToLower(type), {"batch", "bmm"});
}

bool IsSoftmax(std::string_view type) {
  const std::string lower = ToLower(type);
  return ContainsAny(lower, {"softmax"}) && ClassOfName(type) == KernelClass::kVector;
}

bool IsFusedUpdate(std::string_view type) {
  // The functors are those of Apex.
  return ContainsAny(ToLower(type), {"fused", "applyadam", "applyrmsprop", "applylamb",
                                     "applymomentum", "adamfunctor", "lambstage", "sgdfunctor"});
}

bool IsInference(std::string_view type) {
  return ContainsAny(ToLower(type), {"pagedattention", "paged_attention", "increflashattention",
                                     "fusedinferattention", "reshapeandcache", "reshape_and_cache",
                                     "withkvcache", "store_kvcache"});
}

bool IsCommunicationKernel(std::string_view name, const KernelMasks& masks) {
  const std::string lower = ToLower(name);
  return std::ranges::any_of(
      masks.communication, [&](const std::string& text) { return HasWordBeginning(lower, text); });
}

bool IsHcclKernel(std::string_view core, std::string_view name) {
  return core == "HCCL" || core == "COMMUNICATION" || name.starts_with("hcom_");
}

bool IsCopyName(std::string_view name) {
  const std::string lower = ToLower(name);
  return lower.starts_with("memcpy ") || lower.starts_with("memset ") ||
         IsOneOf(lower, {"copyhosttodevice", "copydevicetohost", "copydevicetodevice",
                         "copyhosttohost", "fillbuffer"});
}

CopyDirection DirectionOfCopyName(std::string_view name) {
  const std::string lower = ToLower(name);
  if (ContainsAny(lower, {"htod", "hosttodevice", "h2d", "m2d"})) return CopyDirection::kToDevice;
  if (ContainsAny(lower, {"dtoh", "devicetohost", "d2h", "d2m"})) return CopyDirection::kToHost;
  return CopyDirection::kWithinDevice;
}

}  // namespace mpa
