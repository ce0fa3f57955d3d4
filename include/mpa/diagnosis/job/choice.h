// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "mpa/diagnosis/findings/thresholds.h"
#include "mpa/diagnosis/job/operations.h"

namespace mpa {

inline constexpr Threshold kWholeRanks{"whole_ranks", 512, 1, 1e9,
                                       "in a job of up to this many ranks, all are replayed"},
    kWholeBytes{"whole_bytes", 600e6, 0, 1e15,
                "in a larger job, ranks of up to this many bytes together are replayed: those that"
                " stand out and some of the others"},
    kStandsOutShare{"stands_out_share", 0.005, 0, 1,
                    "a rank stands out if a kind of its work, or its lateness, exceeds that of"
                    " ranks with the same role by this share of a step"};

/// The ranks of a job whose graphs are replayed: all, unless they are too many. Then those that
/// stand out, in turn by each kind of work in which ranks do, the largest excess first, with half
/// of the room; and others to compare with, those in which nobody stands out first. Pipelines are
/// taken whole, and with the ranks that share their layers as far as there is room.
struct RankChoice {
  std::vector<std::size_t> whole;  ///< positions, ascending
  std::size_t stand_out = 0;       ///< ranks that do; only counted where there is a choice
  std::size_t left_out = 0;        ///< of these, those that are not replayed
};

/// True if all of the ranks may be replayed. Reads the outlines of their parts alone.
bool HaveRoom(const std::vector<DiagnosedRank>& ranks, const Thresholds& thresholds);

/// Chooses by what the outlines of the parts hold. Where parts are outlines already, the others
/// are chosen. `operations`: of these ranks.
RankChoice ChooseRanks(const std::vector<DiagnosedRank>& ranks, const JobOperations& operations,
                       const Thresholds& thresholds);

}  // namespace mpa
