// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/rank_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>

#include "mpa/base/rank.h"

namespace mpa {

std::string_view NameOf(RankState state, Language language) {
  static constexpr std::array<Wording, 5> kNames = {{{"captured", "已采集"},
                                                     {"left out", "未选中"},
                                                     {"damaged", "数据损坏"},
                                                     {"part missing", "缺少分片结果"},
                                                     {"not captured", "未采集"}}};
  return kNames.at(static_cast<std::size_t>(state)).In(language);
}

RankState AbsentRanks::Of(RankId rank) const {
  const auto found = states.find(rank);
  return found == states.end() ? RankState::kNotCaptured : found->second;
}

std::vector<RankState> AbsentRanks::Of(const std::vector<RankId>& ranks) const {
  std::set<RankState> different;
  for (const RankId rank : ranks) different.insert(Of(rank));
  if (ranks.empty()) {
    for (const auto& [rank, state] : states) {
      if (state != RankState::kCaptured) different.insert(state);
    }
  }
  if (different.empty()) different.insert(RankState::kNotCaptured);
  return {different.begin(), different.end()};
}

bool AbsentRanks::AnyCaptured() const {
  return std::ranges::any_of(states, [](const auto& rank) {
    return rank.second != RankState::kNotCaptured && rank.second != RankState::kCaptured;
  });
}

std::string AbsentRanks::Text(const std::vector<RankId>& ranks, Language language) const {
  const std::vector<RankState> different = Of(ranks);
  if (ranks.empty() && AnyCaptured())
    return std::string(Wording{"not read", "未读取"}.In(language));
  if (different.size() == 1) return std::string(NameOf(different.front(), language));
  constexpr std::size_t kShown = 6;
  std::string text;
  for (std::size_t i = 0; i < ranks.size() && i < kShown; ++i) {
    text += fmt::format("{}rank {} {}", text.empty() ? "" : ", ", RankName(ranks[i]),
                        NameOf(Of(ranks[i]), language));
  }
  return ranks.size() > kShown ? text + ", ..." : text;
}

std::string AbsentRanks::Named(const std::vector<RankId>& ranks, Language language) const {
  if (ranks.empty()) return UnknownRank(language);
  return fmt::format(fmt::runtime(Wording{"{} ({})", "{}（{}）"}.In(language)),
                     RankList(ranks).Text(RankList::kMostRuns, language), Text(ranks, language));
}

std::string AbsentRanks::UnknownRank(Language language) const {
  return fmt::format(fmt::runtime(Wording{"a rank that was {}", "{}的卡"}.In(language)),
                     Text({}, language));
}

std::string AbsentRanks::Counts(Language language) const {
  std::map<RankState, std::size_t> counts;
  for (const auto& [rank, state] : states) {
    if (state != RankState::kCaptured) ++counts[state];
  }
  if (!AnyCaptured()) return "";
  std::string text;
  for (const auto& [state, count] : counts) {
    if (!text.empty()) text += Wording{", ", "，"}.In(language);
    text += language == Language::kChinese ? fmt::format("{} {}", NameOf(state, language), count)
                                           : fmt::format("{} {}", count, NameOf(state));
  }
  return text;
}

}  // namespace mpa
