// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"

namespace mpa {

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
  std::string Text(std::size_t limit = kMostRuns, Language language = Language::kEnglish) const;
  /// The same without "ranks".
  std::string Names(std::size_t limit = kMostRuns, Language language = Language::kEnglish) const;

 private:
  std::vector<RankId> ranks_;
};

}  // namespace mpa
