// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"

/// What is known of a rank of a job. "Not captured" is said of what was not, and of nothing else.
namespace mpa {

enum class RankState : std::uint8_t {
  kCaptured,     ///< it is analysed
  kLeftOut,      ///< --rank_list chose others
  kDamaged,      ///< its capture, or its part, cannot be read
  kPartMissing,  ///< its shard has not run
  kNotCaptured,
};
constexpr RankState LastOf(RankState) { return RankState::kNotCaptured; }

/// "captured", "left out", "damaged", "part missing", "not captured": on screens, in tables and in
/// documents.
std::string_view NameOf(RankState state);

/// The ranks of a job that are not analysed; any rank without an entry was not captured.
struct AbsentRanks {
  std::map<RankId, RankState> states{};

  /// The first state of a rank counts.
  void Add(RankId rank, RankState state) { states.try_emplace(rank, state); }

  RankState Of(RankId rank) const;
  /// The distinct states of these ranks, in the order of the enumeration; of unknown ranks (`ranks`
  /// is empty) the states of all absent ranks.
  std::vector<RankState> Of(const std::vector<RankId>& ranks) const;
  /// True where ranks are absent that were captured, or may have been.
  bool AnyCaptured() const;

  /// "damaged"; of several ranks that differ each: "rank 3 not captured, rank 5 damaged". Of
  /// unknown ones "not captured", or "not read" where that differs.
  std::string Text(const std::vector<RankId>& ranks) const;
  /// "rank 5 (not captured)", "ranks 2, 3 (damaged)"; UnknownRank() without `ranks`.
  std::string Named(const std::vector<RankId>& ranks) const;
  /// "a rank that was not captured", "a rank that was not read": of one that is not known.
  std::string UnknownRank() const;
  /// "1 damaged, 2 left out": those that were captured, or may have been; empty: there are none.
  std::string Counts() const;
};

}  // namespace mpa
