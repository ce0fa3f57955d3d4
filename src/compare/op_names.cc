// SPDX-License-Identifier: Apache-2.0
// Operators that --op_name_map declares equal.
#include "op_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace mpa {

OpNames WithoutChains(const OpNames& given) {
  OpNames next;  // leads to the name that stands for all
  const auto last = [&](std::string name) {
    for (auto at = next.find(name); at != next.end(); at = next.find(name)) {
      const auto after = next.find(at->second);
      if (after != next.end()) at->second = after->second;  // shortens long chains
      name = at->second;
    }
    return name;
  };
  for (const auto& [name, equal] : given) {
    const std::string from = last(name), to = last(equal);
    if (from != to) next[from] = to;
  }
  OpNames found;
  for (const auto& [name, equal] : given) {
    found[name] = last(name);
    found[equal] = last(equal);
  }
  return found;
}

std::string_view RowKeyOf(std::string_view name, const CompareOptions& options) {
  if (options.compat || options.op_names.empty()) return name;
  const auto found = options.op_names.find(name);
  return found != options.op_names.end() ? std::string_view(found->second) : name;
}

void NamesOfRow::Add(std::string_view name) {
  if (std::ranges::find(names_, name) == names_.end()) names_.push_back(name);
}

void NamesOfRow::Add(const NamesOfRow& others) {
  for (const std::string_view name : others.names_) Add(name);
}

std::string NamesOfRow::Text() const { return fmt::format("{}", fmt::join(names_, " = ")); }

}  // namespace mpa
