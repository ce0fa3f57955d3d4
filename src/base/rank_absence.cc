// SPDX-License-Identifier: Apache-2.0
#include "mpa/base/rank_absence.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <string_view>

#include "mpa/base/rank_names.h"

namespace mpa {
namespace {

// Of the process, as the names of ranks are; see rank_names.h.
struct Absences {
  std::mutex mutex;
  std::map<std::int64_t, RankAbsence> why;
};

Absences& AllAbsences() {
  static Absences absences;
  return absences;
}

std::string_view WordsOf(RankAbsence why, bool chinese) {
  static constexpr std::array<std::array<std::string_view, 2>, 4> kWords = {
      {{"not captured", "未采集"},
       {"left out by an option", "被选项排除"},
       {"damaged", "数据损坏"},
       {"its part is missing", "缺少分片结果"}}};
  return kWords.at(static_cast<std::size_t>(why))[chinese ? 1 : 0];
}

}  // namespace

void SetAbsentRanks(const std::vector<AbsentRank>& ranks) {
  Absences& all = AllAbsences();
  const std::lock_guard lock(all.mutex);
  all.why.clear();
  for (const AbsentRank& rank : ranks) all.why[rank.rank] = rank.why;
}

bool HasAbsentRanks() {
  Absences& all = AllAbsences();
  const std::lock_guard lock(all.mutex);
  return !all.why.empty();
}

std::string AbsenceText(const std::vector<std::int64_t>& ranks, bool chinese) {
  Absences& all = AllAbsences();
  const std::lock_guard lock(all.mutex);
  if (ranks.empty() && !all.why.empty()) return chinese ? "未读取" : "not read";
  const auto why_of = [&](std::int64_t rank) {
    const auto found = all.why.find(rank);
    return found == all.why.end() ? RankAbsence::kNotCaptured : found->second;
  };
  const RankAbsence first = ranks.empty() ? RankAbsence::kNotCaptured : why_of(ranks.front());
  bool alike = true;
  for (const std::int64_t rank : ranks) alike = alike && why_of(rank) == first;
  if (alike) return std::string(WordsOf(first, chinese));
  constexpr std::size_t kShown = 6;
  std::string text;
  for (std::size_t i = 0; i < ranks.size() && i < kShown; ++i) {
    text += fmt::format("{}rank {} {}", text.empty() ? "" : ", ", RankName(ranks[i]),
                        WordsOf(why_of(ranks[i]), chinese));
  }
  return ranks.size() > kShown ? text + ", ..." : text;
}

}  // namespace mpa
