// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Why a rank of the job is not among those that are analysed. Whatever speaks of a rank without
/// data asks here: "not captured" is said of what was not, and of nothing else.
namespace mpa {

enum class RankAbsence : std::uint8_t {
  kNotCaptured,
  kLeftOut,      ///< an option chose others
  kDamaged,      ///< its capture, or its part, cannot be read
  kPartMissing,  ///< its shard has not run
};
constexpr RankAbsence LastOf(RankAbsence) { return RankAbsence::kPartMissing; }

/// A rank that was captured, or may have been, and is not analysed.
struct AbsentRank {
  std::int64_t rank = -1;
  RankAbsence why{};
};

/// Replaces what is known of all ranks of the process; all others were not captured.
void SetAbsentRanks(const std::vector<AbsentRank>& ranks);

/// "not captured", "its part is missing", "damaged"; of several ranks for which it differs each,
/// by its number: "rank 3 not captured, rank 5 damaged". `ranks` is empty where it is not known
/// which: then "not captured", or "not read" where others are absent for another reason.
std::string AbsenceText(const std::vector<std::int64_t>& ranks, bool chinese = false);

/// True where a rank is absent for another reason than that it was not captured.
bool HasAbsentRanks();

}  // namespace mpa
