// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "mpa/mfu/attention_args.h"
#include "mpa/mfu/shapes.h"

namespace mpa {

/// Why the operations of a kernel are not known.
enum class FlopsGap : std::uint8_t {
  kNone,
  kUnknownOperator,    ///< no formula for its type
  kNoShapes,           ///< not recorded, or a tensor that the formula needs is missing
  kUnsupportedLayout,  ///< a format or number of dimensions without a formula
  kMismatch,           ///< the shapes do not fit the operator
  kTooLarge,           ///< beyond 64 bits
  kNoArguments,        ///< attention: no mark tells layout and mask
  kUnsupportedMask,    ///< attention: how much is masked is not in the arguments
  kBadSequences,       ///< attention: sequence lists missing, unequally long or decreasing
  kNoHeadCount,        ///< attention: hidden sizes differ and the number of heads is not recorded
  kPagedCache,         ///< attention: sequence lengths are on the device only
  kNotMatrixWork,      ///< beside the matrix work that the recorded operations are of
  kNoValues,           ///< of a GPU: strides, masks or flags of the operator were not recorded
  kNoFormula,          ///< matrix work, but of a type without a formula
  kUnknownLauncher,    ///< of a GPU: no formula for the operator that launched it
  kNoLauncher,         ///< of a GPU: not known which operator launched it
};

/// For people: "no formula for this operator".
std::string_view Text(FlopsGap gap);

/// Floating-point (or integer) operations of a kernel; a multiply-add counts as two.
struct Flops {
  std::int64_t count = 0;
  FlopsGap gap = FlopsGap::kNone;
  /// The shapes are rounded up to whole tiles, so `count` is the most that it can be.
  bool padded = false;

  bool Known() const { return gap == FlopsGap::kNone; }
};

/// What kind of formula an operator type has.
enum class FlopsFamily : std::uint8_t {
  kNone,
  kMatMul,            ///< two matrices
  kBatchMatMul,       ///< batches of matrices; quantised ones, too
  kTransposeMatMul,   ///< batches, with permuted inputs and output
  kCollectiveMatMul,  ///< a product fused with the exchange of its input or output
  kGroupedMatMul,     ///< one product per group (expert)
  kGroupedSwiglu,     ///< the same, its output gated to half the width
  kGroupedRouting,    ///< the same, its output rows added up by token
  kGroupedMatMulAdd,  ///< groups along the inner dimension, added to the output
  kConvolution,
  kConvolutionInput,   ///< gradient of the input
  kConvolutionFilter,  ///< gradient of the filter
  kAttention,
  kAttentionGrad,
  kPromptAttention,
  kIncreAttention,
  kFusedInferAttention,
};

/// By the operator type as captures write it (`MatMulV3`, `Conv2DBackpropInputD`), whatever its
/// version and letter case.
FlopsFamily FlopsFamilyOf(std::string_view op_type);

/// The operations of one run of a kernel. `attention` are the arguments of an attention operator,
/// null when no mark tells them; others do not need them. Norms, softmax, bias, scaling and
/// quantisation are not counted.
Flops FlopsOf(std::string_view op_type, const KernelTensors& tensors,
              const AttentionArgs* attention = nullptr);

}  // namespace mpa
