// SPDX-License-Identifier: Apache-2.0
// What a kernel computes, by what its name and type say.
#include "compute_leaf.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "mpa/base/text.h"
#include "mpa/measure/kernel_category.h"
#include "mpa/measure/kernel_masks.h"

namespace mpa {
namespace {

bool IsMc2(std::string_view lower) {
  static const KernelMasks masks;
  // Kernels carry the call before the name, "aclnnMatmulAllReduce_MatmulAllReduce_...".
  return std::any_of(masks.mc2.begin(), masks.mc2.end(), [&](const std::string& mask) {
    return lower.find(mask) != std::string_view::npos;
  });
}

Leaf FamilyOf(std::string_view text) {
  const std::string lower = ToLower(text);
  if (IsMc2(lower)) return Leaf::kMc2;
  if (ContainsAny(lower, {"flashattention", "fusedinferattention", "pagedattention", "sdpa",
                          "flash_fwd", "flash_bwd"})) {
    return Leaf::kAttention;
  }
  if (ContainsAny(lower, {"groupedmatmul"})) return Leaf::kGroupedMatmul;
  return Leaf::kUnknown;
}

// The type alone decides the rest: names hold the operators around, too.
Leaf LeafOfType(std::string_view type) {
  const Leaf family = FamilyOf(type);
  if (family != Leaf::kUnknown) return family;
  const std::string lower = ToLower(type);
  if (lower.starts_with("conv")) return Leaf::kConvolution;
  if (ContainsAny(lower, {"matmul", "gemm"}) || lower == "mm" || lower == "bmm") {
    return Leaf::kMatmul;
  }
  if (lower.starts_with("transdata") || lower.starts_with("transpose") || lower == "cast") {
    return Leaf::kFormat;
  }
  if (IsOneOf(lower, {"tensormove", "viewcopy", "identity"})) return Leaf::kMove;
  return Leaf::kUnknown;
}

}  // namespace

ComputeLeaves::ComputeLeaves(const RankTrace& trace)
    : trace_(trace),
      of_name_(trace.strings.Size(), Leaf::kHostIdle),
      of_type_(trace.strings.Size(), Leaf::kHostIdle) {
  const auto look_up = [&](std::vector<Leaf>& leaves, StringId text, auto leaf_of) {
    Leaf& leaf = leaves[Index(text)];
    if (leaf == Leaf::kHostIdle) leaf = leaf_of(trace_.strings.View(text));
  };
  for (std::size_t i = 0; i < trace.kernels.Size(); ++i) {
    look_up(of_name_, trace.kernels.name[i], FamilyOf);
    look_up(of_type_, trace.kernels.op_type[i], LeafOfType);
  }
}

Leaf ComputeLeaves::OfName(std::string_view name) {
  const Leaf family = FamilyOf(name);
  if (family != Leaf::kUnknown) return family;
  // "aclnnMm_MatMulV3Common_MatMulV3": the type comes last. A counter may follow,
  // "trans_TransData_0".
  std::string_view typed = name;
  const std::size_t counter = typed.find_last_not_of("0123456789");
  if (counter != std::string_view::npos && typed[counter] == '_') typed = typed.substr(0, counter);
  const Leaf leaf = LeafOfType(typed.substr(typed.rfind('_') + 1));
  if (leaf != Leaf::kUnknown) return leaf;
  return ContainsAny(ToLower(name), {"gemm"}) ? Leaf::kMatmul : Leaf::kVector;
}

Leaf ComputeLeaves::Of(std::size_t kernel) const {
  const Kernels& kernels = trace_.kernels;
  const Leaf of_type = of_type_[Index(kernels.op_type[kernel])];
  const Leaf of_name = of_name_[Index(kernels.name[kernel])];
  const Leaf family = IsCompute(of_name) ? of_name : of_type;
  const bool is_family = IsCompute(family) && family < Leaf::kVector;
  if (is_family) return family;
  const std::string_view core = trace_.strings.View(kernels.core[kernel]);
  if (ContainsAny(core, {"AI_CPU", "AICPU"})) return Leaf::kAiCpu;
  if (IsCompute(family)) return family;
  if (kernels.op_type[kernel] == StringId::kEmpty && core.empty()) {
    return OfName(trace_.strings.View(kernels.name[kernel]));
  }
  switch (CoreOf(trace_, kernel)) {
    case Core::kCube:
      return Leaf::kMatmul;
    case Core::kVector:
      return Leaf::kVector;
    case Core::kUnknown:
      break;
  }
  return Leaf::kOtherKernel;
}

}  // namespace mpa
