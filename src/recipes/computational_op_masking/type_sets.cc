// SPDX-License-Identifier: Apache-2.0
#include "type_sets.h"

#include <algorithm>

namespace mpa::masking {
namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    pieces.emplace_back(Trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return pieces;
}

}  // namespace

std::vector<TypeSet> ParseTypeSets(std::string_view text) {
  std::vector<TypeSet> sets;
  for (const std::string& set : Split(text, ';')) sets.push_back(Split(set, ','));
  return sets;
}

std::string ProblemOfTypeSets(const std::string& text) {
  for (const TypeSet& set : ParseTypeSets(text)) {
    for (const std::string& type : set) {
      if (type.empty())
        return "give names joined by ',' in sets joined by ';', such as 'dp,edp;tp'";
    }
  }
  return {};
}

}  // namespace mpa::masking
