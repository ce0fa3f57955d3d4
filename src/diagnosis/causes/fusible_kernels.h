// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "mpa/diagnosis/findings/rules.h"
#include "mpa/diagnosis/job/operations.h"
#include "mpa/diagnosis/part/part.h"

namespace mpa {

inline constexpr std::string_view kElementwise = "elementwise";

/// Kernels in the order of a rank that one kernel could replace: nodes of its graph.
struct FusibleRun {
  std::size_t rank = 0;  ///< by position
  std::vector<std::uint32_t> kernels;
};

/// What is computed in pieces, by its place in the key of a finding: the patterns of
/// FusionTargets(), and as `elementwise` other vector kernels in a row on equal tensors. Whose
/// pieces take less of a step than the rule `share` says is left out. `step`: ns.
std::map<std::string_view, std::vector<FusibleRun>> FindFusible(
    const std::vector<DiagnosedRank>& ranks, const Rules& rules, TimeNs step);

}  // namespace mpa
