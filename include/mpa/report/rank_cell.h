// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "mpa/base/rank.h"
#include "mpa/report/report.h"

namespace mpa {

/// The cell of a rank: its number, or the label of a capture without one. Empty for -1: not known.
inline Cell RankCell(RankId rank) {
  if (!rank.IsKnown()) return Cell();
  return rank.IsLabel() ? Cell(RankName(rank)) : Cell(rank.Number());
}

/// Ends the members that lead to the cell of a rank; empty without one.
inline constexpr auto kRank = [](const std::optional<RankId>& rank) {
  return rank ? RankCell(*rank) : Cell();
};

}  // namespace mpa
