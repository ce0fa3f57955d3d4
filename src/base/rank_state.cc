// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/rank_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>

#include "mpa/base/rank.h"

namespace mpa {

std::string_view NameOf(RankState state) {
  static constexpr std::array<std::string_view, 5> kNames = {
      {"captured", "left out", "damaged", "part missing", "not captured"}};
  return kNames.at(static_cast<std::size_t>(state));
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

std::string AbsentRanks::Text(const std::vector<RankId>& ranks) const {
  const std::vector<RankState> different = Of(ranks);
  if (ranks.empty() && AnyCaptured()) return Say("not read");
  if (different.size() == 1) return std::string(Translated(NameOf(different.front())));
  constexpr std::size_t kShown = 6;
  std::string text;
  for (std::size_t i = 0; i < ranks.size() && i < kShown; ++i) {
    if (!text.empty()) text += Translated(", ");
    text += Say("rank {} {}", RankName(ranks[i]), Translated(NameOf(Of(ranks[i]))));
  }
  return ranks.size() > kShown ? text + ", ..." : text;
}

std::string AbsentRanks::Named(const std::vector<RankId>& ranks) const {
  if (ranks.empty()) return UnknownRank();
  return Say("{} ({})", RankList(ranks).Text(RankList::kMostRuns), Text(ranks));
}

std::string AbsentRanks::UnknownRank() const { return Say("a rank that was {}", Text({})); }

std::string AbsentRanks::Counts() const {
  std::map<RankState, std::size_t> counts;
  for (const auto& [rank, state] : states) {
    if (state != RankState::kCaptured) ++counts[state];
  }
  if (!AnyCaptured()) return "";
  std::string text;
  for (const auto& [state, count] : counts) {
    if (!text.empty()) text += Translated(", ");
    text += Say("{0} {1}", count, Translated(NameOf(state)));
  }
  return text;
}

}  // namespace mpa
