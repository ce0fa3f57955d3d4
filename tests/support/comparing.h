// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "mpa/compare/comparison.h"

namespace mpa::test {

/// What the comparison of that name makes of two ranks, whose paths are "old" and "new".
inline Report Compare(std::string_view name, const RankTrace& base, const RankTrace& comparison,
                      const CompareOptions& options = {}) {
  const CompareInput input(base, "old", comparison, "new", options);
  Report report;
  for (const Comparison& candidate : AllComparisons()) {
    if (candidate.name == name) candidate.run(input, report);
  }
  for (Sheet& sheet : report.sheets) sheet.rows.reserve(0);  // stores those made of the input
  return report;
}

/// Cells [first, last) of every row as text, one line each: "allreduce - 2 1.5"; "-" is blank.
inline std::vector<std::string> Lines(const Sheet& sheet, std::size_t first, std::size_t last) {
  std::vector<std::string> lines;
  for (const Row& row : sheet.rows) {
    std::string line;
    for (std::size_t i = first; i < last && i < row.cells.size(); ++i) {
      if (i > first) line += ' ';
      if (const auto* text = std::get_if<std::string>(&row.cells[i])) line += *text;
      if (const auto* whole = std::get_if<std::int64_t>(&row.cells[i])) {
        line += std::to_string(*whole);
      }
      if (const auto* number = std::get_if<double>(&row.cells[i])) {
        line += fmt::format("{}", *number);
      }
      if (const auto* reason = std::get_if<NoNumber>(&row.cells[i])) line += TextOf(*reason);
      if (std::holds_alternative<std::monostate>(row.cells[i])) line += '-';
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace mpa::test
