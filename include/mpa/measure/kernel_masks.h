// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
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
};

}  // namespace mpa
