// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/diagnosis/part/fusion_patterns.h"
#include "mpa/diagnosis/replay/what_if.h"

namespace mpa {

/// Kernels in the order of a stream that one kernel could replace: nodes of a rank's graph.
struct FusibleRun {
  RankIndex rank{};                         ///< by position
  std::vector<std::uint32_t> kernels = {};  ///< with what stands between them
  std::vector<std::uint32_t> gone = {};     ///< their time is saved: all but the longest piece
  std::vector<std::uint32_t> joined = {};   ///< neither started nor asked for
};

/// All chains of one known fusion with the same between their pieces.
struct OpenFusion {
  const FusionPattern* pattern = nullptr;
  const FusionBreaker* breaker = nullptr;  ///< null: nothing stands between the pieces
  std::string place;                       ///< in the key of a finding: "conv_act/TransData"
  std::vector<FusibleRun> runs;            ///< by rank
  /// Of the mean rank and step: how many chains, ns of their kernels, and of those that one kernel
  /// saves.
  double calls = 0, time = 0, gone = 0;
  bool matters = false;       ///< they take long enough for a finding
  bool in_attention = false;  ///< op.attention is about them
  bool gains_little = false;  ///< they are attention over short rows
  WhatIf what_if;
};

/// What of the known fusions a job has not made.
struct OpenFusions {
  bool judged = false;           ///< kernels or operators tell what they do, on some rank
  std::vector<OpenFusion> open;  ///< by place
  /// By rank and node: the kernels of those that matter, and those that one kernel saves.
  std::vector<std::vector<bool>> taken, gone;
};

}  // namespace mpa
