// SPDX-License-Identifier: Apache-2.0
// One warning for what many ranks have in common.
#include "mpa/base/notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/log.h"

namespace mpa {
namespace {

constexpr std::string_view kRank = "rank ";
constexpr std::string_view kUnknown = "unknown";
constexpr std::size_t kMostNamed = 4;  // in one line

bool IsNumeral(char c) { return c >= '0' && c <= '9'; }

// What a note says of which rank; the rank is empty when it begins with none.
struct Parts {
  std::string_view rank, text;
};

Parts Split(std::string_view note) {
  const std::size_t colon = note.find(": ");
  if (!note.starts_with(kRank) || colon == std::string_view::npos) return {{}, note};
  const std::string_view rank = note.substr(kRank.size(), colon - kRank.size());
  // A number, or the label of a capture without one.
  const bool is_rank = !rank.empty() && rank.find(' ') == std::string_view::npos;
  return is_rank ? Parts{rank, note.substr(colon + 2)} : Parts{{}, note};
}

// The text with the same character for every path and every number.
std::string KindOf(std::string_view text) {
  std::string kind;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.find('/') != std::string_view::npos) {
      kind += '@';
    } else {
      for (const char c : word) {
        if (!IsNumeral(c)) {
          kind += c;
        } else if (kind.empty() || kind.back() != '#') {
          kind += '#';
        }
      }
    }
    kind += ' ';
  }
  return kind;
}

// "16 ranks (0, 1, 2, ...)".
std::string RanksText(const std::vector<std::string_view>& ranks) {
  const std::size_t shown = ranks.size() > kMostNamed ? kMostNamed - 1 : ranks.size();
  return Say("{} ranks ({}{})", ranks.size(),
             fmt::join(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
             shown < ranks.size() ? ", ..." : "");
}

// One line for notes of a kind, and whether it says all that they say.
struct Folded {
  std::string text;
  bool complete = true;
};

Folded Fold(const std::vector<std::string_view>& notes) {
  const std::string_view first = notes.front();
  if (notes.size() == 1) return {std::string(first)};
  std::vector<std::string_view> ranks;
  bool equal = true;
  for (const std::string_view note : notes) {
    const Parts parts = Split(note);
    equal = equal && parts.text == Split(first).text;
    if (!parts.rank.empty()) ranks.push_back(parts.rank);
  }
  const bool distinct = std::set(ranks.begin(), ranks.end()).size() == ranks.size() ||
                        std::ranges::count(ranks, kUnknown) > 1;
  if (equal && ranks.empty()) return {Say("{} ({} times)", first, notes.size())};
  if (ranks.empty() || !distinct) {
    return {Say("{} times, first {}", notes.size(), first), false};
  }
  if (equal) {
    return {fmt::format("{}: {}", RanksText(ranks), Split(first).text), ranks.size() <= kMostNamed};
  }
  return {Say("{}, first {}", RanksText(ranks), first), false};
}

std::vector<Folded> FoldKinds(const std::vector<std::string>& notes) {
  std::vector<std::vector<std::string_view>> kinds;
  std::map<std::string, std::size_t> known;
  for (const std::string& note : notes) {
    const Parts parts = Split(note);
    const auto [found, is_new] = known.emplace(
        std::string(parts.rank.empty() ? "" : kRank) + KindOf(parts.text), kinds.size());
    if (is_new) kinds.emplace_back();
    kinds[found->second].push_back(note);
  }
  std::vector<Folded> folded;
  folded.reserve(kinds.size());
  for (const std::vector<std::string_view>& kind : kinds) folded.push_back(Fold(kind));
  return folded;
}

}  // namespace

void AppendNew(const std::vector<std::string>& notes, std::vector<std::string>& to) {
  for (const std::string& note : notes) {
    if (std::ranges::find(to, note) == to.end()) to.push_back(note);
  }
}

std::vector<std::string> FoldNotes(const std::vector<std::string>& notes) {
  std::vector<std::string> texts;
  for (Folded& folded : FoldKinds(notes)) texts.push_back(std::move(folded.text));
  return texts;
}

void LogNotes(const std::vector<std::string>& notes) {
  if (LogEnabled(LogLevel::kInfo)) {
    for (const std::string& note : notes) LogWarning("{}", note);
    return;
  }
  bool complete = true;
  for (const Folded& folded : FoldKinds(notes)) {
    LogWarning("{}", folded.text);
    complete = complete && folded.complete;
  }
  if (!complete) LogNotice("--verbose lists all {} warnings", notes.size());
}

}  // namespace mpa
