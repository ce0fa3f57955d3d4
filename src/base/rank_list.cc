// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/rank_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mpa/base/rank.h"

namespace mpa {

RankList::RankList(std::vector<RankId> ranks) : ranks_(std::move(ranks)) {
  std::ranges::sort(ranks_);
  ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
}

std::string RankList::Names(std::size_t limit, Language language) const {
  std::string text;
  std::size_t runs = 0, next = 0;
  while (next < ranks_.size() && runs++ < limit) {
    std::size_t last = next;
    while (last + 1 < ranks_.size() && ranks_[last + 1].IsNumber() &&
           ranks_[last + 1].Number() == ranks_[last].Number() + 1) {
      ++last;
    }
    if (!text.empty()) text += ", ";
    text += RankName(ranks_[next]);
    if (last > next) text += (last == next + 1 ? ", " : "-") + RankName(ranks_[last]);
    next = last + 1;
  }
  if (next == ranks_.size()) return text;
  return text + (language == Language::kChinese
                     ? fmt::format(" 等 {} 卡", ranks_.size())
                     : fmt::format(" and {} more", ranks_.size() - next));
}

std::string RankList::Text(std::size_t limit, Language language) const {
  const bool chinese = language == Language::kChinese;
  if (!ranks_.empty() && !ranks_.front().IsKnown())
    return chinese ? "编号未知的卡" : "rank unknown";
  return (ranks_.size() == 1 || chinese ? "rank " : "ranks ") + Names(limit, language);
}

}  // namespace mpa
