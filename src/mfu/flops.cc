// SPDX-License-Identifier: Apache-2.0
// Finds the formula for the operations of a kernel by its operator type.
#include "mpa/mfu/flops.h"

#include <algorithm>
#include <string>
#include <utility>

#include "flops_families.h"
#include "mpa/base/enum_name.h"
#include "mpa/base/text.h"

namespace mpa {
namespace {

using enum FlopsFamily;

// Operator types of the CANN operator libraries (ops-nn, ops-transformer) in small letters and
// without their version.
constexpr std::pair<std::string_view, FlopsFamily> kFamilies[] = {
    {"matmul", kMatMul},
    {"fusedmatmul", kMatMul},
    {"batchmatmul", kBatchMatMul},
    {"quantmatmul", kBatchMatMul},
    {"fusedquantmatmul", kBatchMatMul},
    {"quantbatchmatmul", kBatchMatMul},
    {"quantbatchmatmulinplaceadd", kBatchMatMul},
    {"weightquantbatchmatmul", kBatchMatMul},
    {"transposebatchmatmul", kTransposeMatMul},
    {"transposequantbatchmatmul", kTransposeMatMul},
    {"allgathermatmul", kCollectiveMatMul},
    {"matmulreducescatter", kCollectiveMatMul},
    {"matmulallreduce", kCollectiveMatMul},
    {"matmulallreduceaddrmsnorm", kCollectiveMatMul},
    {"inplacematmulallreduceaddrmsnorm", kCollectiveMatMul},
    {"groupedmatmul", kGroupedMatMul},
    {"groupedmatmulswigluquant", kGroupedSwiglu},
    {"groupedmatmulfinalizerouting", kGroupedRouting},
    {"groupedmatmuladd", kGroupedMatMulAdd},
    {"conv2d", kConvolution},
    {"conv3d", kConvolution},
    {"quantconv2d", kConvolution},
    {"quantconv3d", kConvolution},
    {"conv2dbackpropinput", kConvolutionInput},
    {"conv2dbackpropinputd", kConvolutionInput},
    {"conv3dbackpropinput", kConvolutionInput},
    {"conv3dbackpropinputd", kConvolutionInput},
    {"conv2dbackpropfilter", kConvolutionFilter},
    {"conv2dbackpropfilterd", kConvolutionFilter},
    {"conv3dbackpropfilter", kConvolutionFilter},
    {"conv3dbackpropfilterd", kConvolutionFilter},
    {"flashattentionscore", kAttention},
    {"flashattentionscoregrad", kAttentionGrad},
    {"promptflashattention", kPromptAttention},
    {"increflashattention", kIncreAttention},
    {"fusedinferattentionscore", kFusedInferAttention},
};

// "matmulv3" as "matmul".
std::string_view WithoutVersion(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  const bool versioned = end != std::string_view::npos && end + 1 < name.size() && name[end] == 'v';
  return versioned ? name.substr(0, end) : name;
}

FlopsGap CheckSizes(const Shapes& shapes) {
  for (const Shape& shape : shapes) {
    Checked elements = 1;
    for (const std::int64_t size : shape) {
      if (size < 0) return FlopsGap::kNoShapes;
      elements = elements * std::max<std::int64_t>(size, 1);
    }
    if (!elements.Fits()) return FlopsGap::kTooLarge;
  }
  return FlopsGap::kNone;
}

}  // namespace

std::string_view Text(FlopsGap gap) {
  return EnumName<FlopsGap::kNoLauncher>(
      gap,
      {"", "no formula for this operator", "no shapes", "unsupported layout",
       "shapes do not fit together", "more operations than 64 bits can count",
       "no attention arguments", "unsupported attention mask", "bad sequence lengths",
       "number of heads unknown", "paged cache: sequence lengths unknown", "no matrix work",
       "strides or flags of the operator not recorded", "no formula for this type",
       "no formula for the operator that launched it", "no operator is known to have launched it"});
}

FlopsFamily FlopsFamilyOf(std::string_view op_type) {
  const std::string name = ToLower(op_type);
  const std::string_view base = WithoutVersion(name);
  for (const auto& [known, family] : kFamilies) {
    if (known == base) return family;
  }
  return kNone;
}

Flops FlopsOf(std::string_view op_type, const KernelTensors& tensors,
              const AttentionArgs* attention) {
  const FlopsFamily family = FlopsFamilyOf(op_type);
  if (family == kNone) return flops::Unknown(FlopsGap::kUnknownOperator);
  for (const Shapes* shapes : {&tensors.inputs, &tensors.outputs}) {
    const FlopsGap gap = CheckSizes(*shapes);
    if (gap != FlopsGap::kNone) return flops::Unknown(gap);
  }
  switch (family) {
    case kNone:
      break;
    case kMatMul:
    case kBatchMatMul:
      return flops::MatMul(tensors, family == kMatMul);
    case kTransposeMatMul:
      return flops::TransposeMatMul(tensors);
    case kCollectiveMatMul:
      return flops::CollectiveMatMul(tensors);
    case kGroupedMatMul:
    case kGroupedSwiglu:
    case kGroupedRouting:
    case kGroupedMatMulAdd:
      return flops::GroupedMatMul(tensors, family);
    case kConvolution:
    case kConvolutionInput:
    case kConvolutionFilter:
      return flops::Convolution(tensors, family);
    case kAttention:
    case kAttentionGrad:
    case kPromptAttention:
    case kIncreAttention:
    case kFusedInferAttention:
      return flops::Attention(tensors, family, attention);
  }
  return flops::Unknown(FlopsGap::kUnknownOperator);
}

}  // namespace mpa
