// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/language.h"

/// The two numbers of a rank. RankId says which process of the job it is, and is what people see.
/// RankIndex says where it stands in a list of the ranks that are analysed. Neither becomes the
/// other by itself, so that no list is read at the number of a process.
namespace mpa {

/// More ranks than any job has: larger numbers and groups are damaged, or stand for labels.
inline constexpr std::int64_t kMaxRanks = std::int64_t{1} << 24;

/// A rank of a job: its number, as captures state it. A capture that has none is known by a label,
/// which comes from its folder: a number beyond those of ranks stands for the label, so that it
/// takes part in everything that ranks are counted, joined and ordered by, behind the others.
/// Whatever shows a rank asks RankName().
class RankId {
 public:
  /// Unknown.
  constexpr RankId() = default;
  /// Numbers of captures are signed, those of positions are not.
  constexpr RankId(std::signed_integral auto number) : number_(number) {}  // NOLINT: as it stands

  /// -1: unknown.
  constexpr std::int64_t Number() const { return number_; }
  constexpr bool IsKnown() const { return number_ >= 0; }
  /// False for what stands for a label, and for unknown ones.
  constexpr bool IsNumber() const { return number_ >= 0 && number_ < kMaxRanks; }
  constexpr bool IsLabel() const { return number_ >= kMaxRanks; }

  friend constexpr auto operator<=>(RankId, RankId) = default;

 private:
  std::int64_t number_ = -1;
};

/// The position of a rank in a list of ranks.
class RankIndex {
 public:
  constexpr RankIndex() = default;
  constexpr RankIndex(std::unsigned_integral auto position) : position_(position) {}  // NOLINT
  /// Of a literal; no variable that is signed is a position.
  consteval RankIndex(int position) : position_(static_cast<std::size_t>(position)) {}  // NOLINT

  constexpr operator std::size_t() const { return position_; }  // NOLINT: lists are read at it
  constexpr RankIndex& operator++() {
    ++position_;
    return *this;
  }

 private:
  std::size_t position_ = 0;
};

/// What stands for the label: always the same within a process. Labels that are asked for in order
/// are in order.
RankId RankOfLabel(std::string_view label);

/// Says which label a number that another process gave out stands for. False where it stands for
/// another one here, or the label has another number.
bool SetRankLabel(RankId rank, std::string_view label);

/// "3", or the label; "unknown" for an unknown one.
std::string RankName(RankId rank);
/// The same for the name of a file: letters, digits, '.', '-' and '_'.
std::string RankFileName(RankId rank);
/// "rank 3", or "rank" and the label; "rank unknown".
std::string RankText(RankId rank);

/// RankName() of each, with `separator` between them.
template <typename Ranks>
std::string RankNames(const Ranks& ranks, std::string_view separator) {
  std::string text;
  for (const RankId rank : ranks) {
    if (!text.empty()) text += separator;
    text += RankName(rank);
  }
  return text;
}

/// Ranks as people read them: each once, in order, those that follow each other as one run.
class RankList {
 public:
  /// More than four runs do not fit into a line beside what is said of them.
  static constexpr std::size_t kMostRuns = 4;
  static constexpr std::size_t kAllRuns = static_cast<std::size_t>(-1);

  explicit RankList(std::vector<RankId> ranks);
  template <typename Ranks>
  explicit RankList(const Ranks& ranks)
      : RankList(std::vector<RankId>(ranks.begin(), ranks.end())) {}

  /// "rank 3", "ranks 0-3, 8, 9 and 2 more"; "rank unknown" where one of them is. Of more than
  /// `limit` runs the ranks of the others are counted.
  std::string Text(std::size_t limit = kMostRuns) const;
  /// The same without "ranks".
  std::string Names(std::size_t limit = kMostRuns) const;

 private:
  std::vector<RankId> ranks_;
};

}  // namespace mpa
