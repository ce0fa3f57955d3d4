// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "functions.h"
#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "reflection.h"
#include "tables.h"
#include "views.h"

namespace mpa::query {
namespace {

// Few letters away, or the begin of the other: duration and dur, kernels and kernel.
std::optional<std::string> Nearest(std::string_view name, const std::vector<std::string>& known) {
  const std::string lower = ToLower(name);
  for (const std::string& candidate : known) {
    if (lower.starts_with(candidate) && candidate.size() > 2) return candidate;
  }
  if (auto closest = Closest(lower, known)) return closest;
  for (const std::string& candidate : known) {
    if (lower.size() > 2 && (candidate.starts_with(lower) || candidate.ends_with("_" + lower)))
      return candidate;
  }
  return std::nullopt;
}

bool HasWord(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !IsOfWord(text[at - 1])) && (end == text.size() || !IsOfWord(text[end])))
      return true;
  }
  return false;
}

[[noreturn]] void FailColumn(std::string_view name, std::string_view sql) {
  name = name.substr(name.rfind('.') + 1);  // the alias of its table
  std::string columns, tables;
  for (const TableInfo& table : AllTables()) {
    if (!HasWord(sql, table.name)) continue;
    std::vector<std::string> known;
    for (const TableColumn& column : table.columns) known.push_back(column.name);
    if (const auto nearest = Nearest(name, known)) {
      const auto column = std::ranges::find(table.columns, *nearest, &TableColumn::name);
      Fail(ErrorKind::kUsage, "no column '{}'; did you mean '{}.{}'{}?", name, table.name, *nearest,
           column->unit.empty() ? "" : " (" + column->unit + ")");
    }
    columns += table.IsOfRank() ? (columns.empty() ? "" : ", ") + std::string("side, rank") : "";
    known.insert(known.begin(), "id");
    for (const std::string& column : known) columns += (columns.empty() ? "" : ", ") + column;
    tables += (tables.empty() ? "" : ", ") + table.name;
  }
  if (columns.empty()) Fail(ErrorKind::kUsage, "no column '{}' in these tables", name);
  Fail(ErrorKind::kUsage, "no column '{}'; {} has {}", name, tables, columns);
}

[[noreturn]] void FailTable(std::string_view name) {
  std::vector<std::string> known;
  for (const TableInfo& table : AllTables()) known.push_back(table.name);
  for (const std::string& view : ViewNames()) known.push_back(view);
  if (const auto nearest = Nearest(name, known))
    Fail(ErrorKind::kUsage, "no table '{}'; did you mean '{}'?", name, *nearest);
  Fail(ErrorKind::kUsage, "no table '{}'; 'msprof-analyze query CAPTURE' lists them", name);
}

}  // namespace

void FailWithNearest(const std::string& message, std::string_view sql) {
  const auto behind = [&](std::string_view begin) {
    return std::string_view(message).starts_with(begin)
               ? std::optional(std::string_view(message).substr(begin.size()))
               : std::nullopt;
  };
  if (const auto name = behind("no such column: ")) FailColumn(*name, sql);
  if (const auto name = behind("no such table: ")) FailTable(*name);
  if (const auto name = behind("no such function: ")) {
    std::vector<std::string> known;
    for (const FunctionInfo& function : AllFunctions()) known.emplace_back(function.name);
    if (const auto nearest = Nearest(*name, known))
      Fail(ErrorKind::kUsage, "no function '{}'; did you mean '{}'?", *name, *nearest);
  }
  Fail(ErrorKind::kUsage, "SQL: {}", message);
}

}  // namespace mpa::query
