// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "module_profile.h"

namespace mpa::calibrate {

/// How alike two texts are, from 0 to 1: twice what their longest common pieces hold, by the length
/// of both (Ratcliff and Obershelp).
double Likeness(std::string_view a, std::string_view b);

/// How a module found its partner.
enum class MatchKind : std::uint8_t { kRule, kFuzzy, kNone };

/// Operators of a module on both sides that stand in one row: the n-th longest of each.
struct MatchedRow {
  std::string key;  ///< of the GPU where it has the module
  MatchKind kind{};
  const ModuleOp* npu = nullptr;  ///< null: the side has no further operator
  const ModuleOp* gpu = nullptr;
  std::optional<TimeNs> npu_module, gpu_module;  ///< kernels of the whole module
};

/// Modules of equal names belong together, where NPU names lose the word "Ascend". Each of the
/// others belongs to the one GPU module without partner that is named most alike, if their names
/// are alike enough; the most alike find each other first. Rows are in order of the parent, then of
/// the difference of the modules, greatest first, then of GPU time.
std::vector<MatchedRow> MatchModules(const ModuleProfile& npu, const ModuleProfile& gpu,
                                     double threshold);

}  // namespace mpa::calibrate
