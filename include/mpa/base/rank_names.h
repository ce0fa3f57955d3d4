// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// How ranks are called. A rank is known by its number in the job. A capture that has none is known
/// by a label, which comes from its folder: a number beyond those of ranks stands for the label, so
/// that it takes part in everything that ranks are counted, joined and ordered by, behind the
/// others. Whatever shows a rank asks RankName().
namespace mpa {

/// More ranks than any job has: larger numbers and groups are damaged, or stand for labels.
inline constexpr std::int64_t kMaxRanks = std::int64_t{1} << 24;

/// False for what stands for a label, and for -1: not known.
constexpr bool IsRankNumber(std::int64_t rank) { return rank >= 0 && rank < kMaxRanks; }
constexpr bool IsRankLabel(std::int64_t rank) { return rank >= kMaxRanks; }

/// What stands for the label: always the same within a process. Labels that are asked for in order
/// are in order.
std::int64_t RankOfLabel(std::string_view label);

/// Says which label a number that another process gave out stands for. False where it stands for
/// another one here, or the label has another number.
bool SetRankLabel(std::int64_t rank, std::string_view label);

/// "3", or the label; "unknown" for -1.
std::string RankName(std::int64_t rank);
/// The same for the name of a file: letters, digits, '.', '-' and '_'.
std::string RankFileName(std::int64_t rank);

/// RankName() of each, with `separator` between them.
template <typename Ranks>
std::string RankNames(const Ranks& ranks, std::string_view separator) {
  std::string text;
  for (const std::int64_t rank : ranks) {
    if (!text.empty()) text += separator;
    text += RankName(rank);
  }
  return text;
}

}  // namespace mpa
