// SPDX-License-Identifier: Apache-2.0
#include "rank_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "mpa/base/rank_names.h"
#include "mpa/base/text.h"

namespace mpa {

std::string RankList(const std::set<std::int64_t>& ranks) {
  constexpr std::size_t kMax = 8;
  std::vector<std::string> items;
  for (const std::int64_t rank : ranks) {
    if (items.size() == kMax && ranks.size() > kMax + 1) {
      items.push_back(fmt::format("{} more", ranks.size() - kMax));
      break;
    }
    items.push_back(RankName(rank));
  }
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
  }
  return text;
}

std::string MissingRanks(const std::optional<std::set<std::int64_t>>& wanted,
                         const std::set<std::int64_t>& there) {
  if (!wanted || there.empty()) return "";
  std::set<std::int64_t> missing;
  std::ranges::set_difference(*wanted, there, std::inserter(missing, missing.end()));
  if (missing.empty()) return "";
  return fmt::format("{} {} not found; there {} {}",
                     Plural(static_cast<std::int64_t>(missing.size()), "rank"), RankList(missing),
                     there.size() == 1 ? "is" : "are", RankList(there));
}

}  // namespace mpa
