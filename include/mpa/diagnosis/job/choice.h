// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpa/diagnosis/findings/thresholds.h"
#include "mpa/diagnosis/job/operations.h"

namespace mpa {

inline constexpr Threshold kStandsOutShare{
    "stands_out_share", 0.005, 0, 1,
    "a rank stands out if a kind of its work, or its lateness, exceeds that of"
    " ranks with the same role by this share of a step"};

/// The ranks of a job whose graphs are replayed.
struct RankChoice {
  std::vector<std::size_t> whole;  ///< positions, ascending
  std::size_t stand_out = 0;       ///< ranks that do; only counted where some are not replayed
  std::size_t left_out = 0;        ///< of these, those that are not replayed
};

/// What a part that is replayed takes in memory, in bytes: its outline and, many times as much, its
/// graph with its share of that of the job. About.
std::int64_t MemoryOfReplay(const RankDiagnosis& part);

/// Positions of the ranks whose graphs are to be replayed within `bytes` of memory (0: as many as
/// there are), by the outlines of their parts: all, unless they are too many. Then those that
/// stand out, in turn by each kind of work in which ranks do, the largest excess first, with half
/// of the room; and others to compare with, those in which nobody stands out first. Pipelines are
/// taken whole, and with the ranks that share their layers as far as there is room.
std::vector<std::size_t> ChooseRanks(const std::vector<DiagnosedRank>& ranks,
                                     const JobOperations& operations, const Thresholds& thresholds,
                                     std::int64_t bytes);

/// True if all of the ranks may be replayed within `bytes` of memory.
bool HaveRoom(const std::vector<DiagnosedRank>& ranks, std::int64_t bytes);

/// The choice that was made: the ranks whose parts are whole.
RankChoice ChosenRanks(const std::vector<DiagnosedRank>& ranks, const JobOperations& operations,
                       const Thresholds& thresholds);

}  // namespace mpa
