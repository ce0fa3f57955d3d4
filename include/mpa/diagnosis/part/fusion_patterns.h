// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// The fusions that are known: work that models often do in several kernels although one could do
/// it, and what stands between kernels that would be one without it. Declared once, for kernels
/// and for operators of the host.
namespace mpa {

/// What a kernel, or an operator of the host, does in a chain.
struct FusionRole {
  std::string_view name;                    ///< in chains: "conv"
  std::vector<std::string_view> kernels;    ///< types in lower case, without a version: "bninfer"
  std::vector<std::string_view> operators;  ///< without "aten::" and a last "_": "batch_norm"
};

/// Roles by their position in the list.
inline constexpr std::size_t kMaxFusionRoles = 64;
using FusionRoles = std::bitset<kMaxFusionRoles>;

/// Those of an NPU's kernel, by its type, or where no types are recorded, by its name, which ends
/// with the type: "aclnnInplaceRelu_Relu_Relu", "trans_TransData_2", "Conv2D1".
FusionRoles RolesOfKernel(std::string_view type);
/// Those of an operator of the host: "aten::relu_".
FusionRoles RolesOfOperator(std::string_view name);
/// Those of these names: "mul|div". Throws Error (kInternal) for one that is not there.
FusionRoles RolesNamed(std::string_view names);
/// True for the role of that name among `roles`.
bool HasRole(const FusionRoles& roles, std::string_view name);

/// What keeps kernels around it from being one.
struct FusionBreaker {
  std::string_view name;  ///< for people and in keys: "TransData"
  std::string_view role;
  bool goes = true;         ///< not needed once the kernels are one; false: it can only move
  std::string_view remedy;  ///< how to get rid of it
};
const std::vector<FusionBreaker>& FusionBreakers();
/// Of a kernel or operator with these roles; null: it breaks nothing.
const FusionBreaker* BreakerOf(const FusionRoles& roles);

/// A piece of a chain.
struct FusionItem {
  FusionRoles roles;      ///< any of them
  bool optional = false;  ///< "add?"
  bool stays = false;     ///< "bn_update!": has to run beside the fused kernel
};
using FusionChain = std::vector<FusionItem>;

/// A fusion, and how its pieces look.
struct FusionPattern {
  std::string_view place;                ///< in keys of findings: "conv_bn_act"; empty: see `runs`
  std::string_view pieces = {};          ///< for people: "Conv + BN + activation"
  std::vector<FusionChain> chains = {};  ///< empty: kernels do not tell it
  /// One operator that was written as several; conversions of types between them belong to it.
  bool in_pieces = false;
  bool needs_shapes = false;  ///< types in a row tell nothing, only what flows does
  /// What to do about it on an NPU; empty: what is done about all others.
  std::string_view remedy = {};
  std::string_view gpu_remedy = {};  ///< the same on a GPU
  std::string_view api = {};  ///< the call that computes it at once: "torch_npu.npu_rms_norm"
  /// How the Python tool finds it among operators of the host that run one after the other,
  /// without "aten::"; "a|b c? d": a or b, then perhaps c, then d.
  std::vector<std::string_view> runs = {};
};

const std::vector<FusionPattern>& FusionPatterns();
/// Those with chains.
std::size_t KnownFusions();

}  // namespace mpa
