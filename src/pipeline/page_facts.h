// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/rank_state.h"
#include "mpa/capture/capture.h"
#include "mpa/model/rank_trace.h"
#include "mpa/report/page.h"

namespace mpa {

/// When the first record begins; -1: nothing is recorded, or its clock does not tell the date.
TimeNs BeginOf(const RankTrace& trace);

/// What a page says of the captures that were analysed.
struct AnalysedCaptures {
  std::set<RankId> ranks{};
  std::set<std::string> chips{}, hosts{};
  TimeNs begin = -1;  ///< of the first; -1: unknown
  std::uint64_t captures = 0;

  void Add(const RankTrace& trace);
  void Add(const AnalysedCaptures& other);
  /// `where`: as it was given.
  std::vector<PageFact> Facts(const std::string& where) const;
};

/// Adds which ranks of the job were not analysed, and why.
void AddAbsent(const AbsentRanks& absent, std::vector<PageFact>& facts);

/// The same of the base and the comparison.
std::vector<PageFact> FactsOfSides(const std::array<const RankInput*, 2>& inputs,
                                   const std::array<const RankTrace*, 2>& traces);

}  // namespace mpa
