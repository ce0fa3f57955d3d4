// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpa/mfu/flops.h"

namespace mpa {

/// A 64-bit number that remembers when a calculation with it left 64 bits.
class Checked {
 public:
  constexpr Checked(std::int64_t value) : value_(value) {}  // NOLINT: numbers mix with it freely

  constexpr bool Fits() const { return fits_; }
  /// Meaningless unless Fits().
  constexpr std::int64_t Value() const { return value_; }

  friend constexpr Checked operator*(Checked a, Checked b) {
    Checked result(0);
    const bool left = __builtin_mul_overflow(a.value_, b.value_, &result.value_);
    result.fits_ = a.fits_ && b.fits_ && !left;
    return result;
  }
  friend constexpr Checked operator+(Checked a, Checked b) {
    Checked result(0);
    const bool left = __builtin_add_overflow(a.value_, b.value_, &result.value_);
    result.fits_ = a.fits_ && b.fits_ && !left;
    return result;
  }
  friend constexpr Checked operator-(Checked a, Checked b) {
    Checked result(0);
    const bool left = __builtin_sub_overflow(a.value_, b.value_, &result.value_);
    result.fits_ = a.fits_ && b.fits_ && !left;
    return result;
  }

 private:
  std::int64_t value_;
  bool fits_ = true;
};

}  // namespace mpa

// The formulas behind FlopsOf(), which has made sure that no dimension is negative and that the
// elements of every tensor, empty dimensions left out, can be counted in 64 bits.
namespace mpa::flops {

inline Flops Unknown(FlopsGap gap) { return {.gap = gap}; }
inline Flops Counted(Checked count, bool padded = false) {
  if (!count.Fits()) return Unknown(FlopsGap::kTooLarge);
  return {.count = count.Value(), .padded = padded};
}
inline std::int64_t Elements(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

/// 2 m n k for each matrix of the batch, the convention of BLAS (LAPACK Working Note 41, appendix
/// C: a product of m x k and k x n is m n k multiplications and m n k additions). Which dimension
/// of an input is k follows from the output: inputs may be transposed.
Flops MatMul(const KernelTensors& tensors, bool matrices_only);
/// aclnnTransposeBatchMatMul: x1 is (b, m, k) or (m, b, k), x2 (b, k, n) or (b, n, k): 2 b m n k.
Flops TransposeMatMul(const KernelTensors& tensors);
/// aclnnAllGatherMatmul, aclnnMatmulReduceScatter, aclnnMatmulAllReduce: the product that this
/// device computes has the rows of the gathered input or of the output before it is scattered.
Flops CollectiveMatMul(const KernelTensors& tensors);
/// aclnnGroupedMatmul: y_i = x_i weight_i, the sum of 2 m_i n_i k_i over the groups. Where groups
/// share one tensor this needs no group list, as long as the groups cover all rows.
Flops GroupedMatMul(const KernelTensors& tensors, FlopsFamily family);

/// 2 x output positions x output channels x (input channels of a group x filter area): the direct
/// convolution, e.g. Sze et al., Efficient Processing of Deep Neural Networks (arXiv:1703.09039),
/// section III. Both gradients have as many operations as the forward pass: each of its
/// multiply-adds has one in either gradient.
Flops Convolution(const KernelTensors& tensors, FlopsFamily family);

/// Forward: 2 x heads x scores x (Dqk + Dv), the products with keys and values. Backward: five
/// products in place of two, 2 x heads x scores x (3 Dqk + 2 Dv), because the scores are computed
/// again: 2.5 times the forward pass where Dqk = Dv. Dao, FlashAttention-2 (arXiv:2307.08691),
/// section 4.1. The scores that are left by a causal mask follow the description of sparseMode in
/// the CANN documentation (aclnnFlashAttentionScoreV2).
Flops Attention(const KernelTensors& tensors, FlopsFamily family, const AttentionArgs* args);

}  // namespace mpa::flops
