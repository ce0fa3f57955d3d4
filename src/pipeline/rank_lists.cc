// SPDX-License-Identifier: Apache-2.0
#include "rank_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/rank_list.h"
#include "mpa/base/text.h"

namespace mpa {

std::string MissingRanks(const std::optional<std::set<RankId>>& wanted,
                         const std::set<RankId>& there) {
  if (!wanted || there.empty()) return "";
  std::set<RankId> missing;
  std::ranges::set_difference(*wanted, there, std::inserter(missing, missing.end()));
  if (missing.empty()) return "";
  return fmt::format("{} not found; there {} {}", RankList(missing).Text(),
                     there.size() == 1 ? "is" : "are", RankList(there).Text());
}

}  // namespace mpa
