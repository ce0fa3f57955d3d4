// SPDX-License-Identifier: Apache-2.0
// How a statement that somebody types can go on.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "functions.h"
#include "mpa/base/text.h"
#include "mpa/query/query.h"
#include "names.h"
#include "reflection.h"

namespace mpa {
namespace query {
namespace {

constexpr std::string_view kSqlWords =
    "SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT JOIN LEFT ON AS AND OR NOT NULL IS IN LIKE"
    " BETWEEN CASE WHEN THEN ELSE END DISTINCT UNION ALL WITH DESC OVER PARTITION EXISTS"
    " count sum min max avg abs round coalesce total group_concat lag lead rank row_number";

void Append(std::vector<std::string> more, std::vector<std::string>& words) {
  words.insert(words.end(), more.begin(), more.end());
}

// All that can stand where the word is; `before`: what stands before it.
std::vector<std::string> Candidates(std::string_view before, std::string_view word,
                                    std::string_view text) {
  std::vector<std::string> words;
  if (const std::size_t dot = word.rfind('.'); dot != std::string_view::npos) {
    const TableInfo* table = TableCalled(word.substr(0, dot), text);
    if (table == nullptr) return {};
    for (const std::string& column : ColumnNames(*table))
      words.push_back(std::string(word.substr(0, dot + 1)) + column);
    return words;
  }
  const std::vector<std::string_view> earlier = WordsOf(before);
  const std::string last = earlier.empty() ? "" : ToLower(earlier.back());
  if (IsOneOf(last, {"from", "join", "schema"})) return TableNames();
  for (const TableInfo* table : TablesIn(text)) Append(ColumnNames(*table), words);
  if (word.empty() && !words.empty()) return words;
  Append(TableNames(), words);
  for (const FunctionInfo& function : AllFunctions()) words.emplace_back(function.name);
  for (const std::string_view one : Split(kSqlWords, ' ')) words.emplace_back(one);
  return words;
}

}  // namespace
}  // namespace query

Completions CompleteStatement(std::string_view text, std::size_t cursor) {
  Completions completions{.begin = cursor};
  while (completions.begin > 0 &&
         (query::IsOfWord(text[completions.begin - 1]) || text[completions.begin - 1] == '.'))
    --completions.begin;
  const std::string_view word = text.substr(completions.begin, cursor - completions.begin);
  const std::string lower = ToLower(word);
  std::vector<std::string>& words = completions.words;
  words = query::Candidates(text.substr(0, completions.begin), word, text);
  std::erase_if(words, [&](const std::string& one) { return !StartsWithIgnoringCase(one, lower); });
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return completions;
}

}  // namespace mpa
