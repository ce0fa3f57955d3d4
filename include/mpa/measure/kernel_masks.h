// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mpa {

/// The names by which kernels are sorted into the categories of the overall comparison, in lower
/// case. A name fits when it contains one of the texts.
struct KernelMasks {
  /// Operators that launch kernels of attention, convolutions and matrix products.
  std::vector<std::string> flash_attention = {"flash_attention",     "fusion_attention",
                                              "flashattn",           "xformers_flash",
                                              "efficient_attention", "flash2attn"};
  std::vector<std::string> convolution = {"aten::conv"};
  std::vector<std::string> matmul = {"aten::addmm", "aten::bmm", "aten::mm", "aten::matmul"};
  std::vector<std::string> cube = {"gemm", "conv", "cutlass", "wgrad", "gemvx"};  ///< of GPUs
  std::vector<std::string> trans = {"cast", "transdata", "transpose"};  ///< vector kernels of NPUs
  /// Kernels that compute and communicate at once; here the whole name has to be the same.
  std::vector<std::string> mc2 = {"allgathermatmul", "matmulreducescatter", "matmulallreduce"};
  /// Kernels of GPUs that communicate: NCCL, RCCL (MSCCL), oneCCL, HCCL, expert parallelism, and
  /// the reductions that serving engines bring along. A word of the name begins with the text.
  std::vector<std::string> communication = {
      "nccl",
      "msccl",
      "oneccl",
      "hcom_",
      "deep_ep::",
      "cross_device_reduce",
      "multimem_all_",
      "multimem_one_shot",
      "one_shot_all_reduce",
      "two_shot_all_reduce",
      "allreduce_fusion",
      "quickreduce",
      "nvshmem",
      "userbuffers_",
  };
};

/// The masks that hold where the user gives none.
inline const KernelMasks& BuiltInMasks() {
  static const KernelMasks masks;
  return masks;
}

/// True if `lower`, a name in lower case, contains one of the texts.
inline bool FitsMask(std::string_view lower, const std::vector<std::string>& mask) {
  for (const std::string& text : mask) {
    if (lower.find(text) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace mpa
