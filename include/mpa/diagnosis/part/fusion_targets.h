// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace mpa {

/// A kernel of a pattern: its type begins with one of these, in lower case.
using FusionPiece = std::vector<std::string_view>;

/// A call that does at once what models often compute in pieces, and how the pieces look.
struct FusionTarget {
  std::string_view api;  ///< "torch_npu.npu_rms_norm"
  /// As operators of the host, without "aten::"; "a|b c? d": a or b, then perhaps c, then d.
  std::vector<std::string_view> runs;
  std::string_view place;            ///< in keys of findings: "rms_norm"; empty: no kernels tell it
  std::vector<FusionPiece> kernels;  ///< as kernels of one stream
};

const std::vector<FusionTarget>& FusionTargets();

}  // namespace mpa
