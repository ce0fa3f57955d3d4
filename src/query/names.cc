// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "functions.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "reflection.h"
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

// Whether the word stands at that place, as a whole.
bool IsWordAt(std::string_view text, std::size_t at, std::string_view word) {
  const std::size_t end = at + word.size();
  return text.substr(at).starts_with(word) && (at == 0 || !IsOfWord(text[at - 1])) &&
         (end == text.size() || !IsOfWord(text[end]));
}

std::string Replaced(std::string_view sql, std::string_view wrong, std::string_view right) {
  std::string text;
  bool in_quotes = false;  // a text, which names nothing
  for (std::size_t i = 0; i < sql.size();) {
    in_quotes = in_quotes != (sql[i] == '\'');
    const bool is_found = !in_quotes && IsWordAt(sql, i, wrong);
    text += is_found ? right : sql.substr(i, 1);
    i += is_found ? wrong.size() : 1;
  }
  return text;
}

[[noreturn]] void FailColumn(std::string_view name, std::string_view sql) {
  const std::size_t of_alias = name.rfind('.') + 1;
  const std::string alias(name.substr(0, of_alias));
  const std::string column(name.substr(of_alias));
  std::vector<std::string> columns, tables;
  for (const TableInfo* table : TablesIn(sql)) {
    const std::vector<std::string> known = ColumnNames(*table);
    if (const auto nearest = Nearest(column, known)) {
      const auto found = std::ranges::find(table->columns, *nearest, &TableColumn::name);
      const bool has_unit = found != table->columns.end() && !found->unit.empty();
      throw Misspelt(Say("no column '{}'; did you mean '{}.{}'{}?", column, table->name, *nearest,
                         has_unit ? " (" + found->unit + ")" : ""),
                     std::string(name), alias + *nearest);
    }
    columns.insert(columns.end(), known.begin(), known.end());
    tables.push_back(table->name);
  }
  if (columns.empty()) Fail(ErrorKind::kUsage, "no column '{}' in these tables", column);
  Fail(ErrorKind::kUsage, "no column '{}'; {} has {}", column, fmt::join(tables, ", "),
       fmt::join(columns, ", "));
}

}  // namespace

bool HasWord(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; ++at) {
    if (IsWordAt(text, at, word)) return true;
  }
  return false;
}

std::vector<std::string> ColumnNames(const TableInfo& table) {
  std::vector<std::string> names;
  if (table.IsOfRank()) names = {"side", "rank"};
  if (!table.HasOwnId()) names.emplace_back("id");
  for (const TableColumn& column : table.columns) names.push_back(column.name);
  return names;
}

std::vector<std::string> TableNames() {
  std::vector<std::string> names = ViewNames();
  for (const TableInfo& table : AllTables()) names.push_back(table.name);
  return names;
}

std::vector<const TableInfo*> TablesIn(std::string_view sql) {
  std::vector<const TableInfo*> tables;
  for (const TableInfo& table : AllTables()) {
    if (HasWord(sql, table.name)) tables.push_back(&table);
  }
  return tables;
}

void FailTable(std::string_view name) {
  if (const auto nearest = Nearest(name, TableNames()))
    throw Misspelt(Say("no table '{}'; did you mean '{}'?", name, *nearest), std::string(name),
                   *nearest);
  Fail(ErrorKind::kUsage, "no table '{}'; 'msprof-analyze query CAPTURE' lists them", name);
}

std::string Corrected(std::string sql, Misspelt error,
                      const std::function<void(const std::string&)>& prepare) {
  constexpr int kMost = 8;  // names in one statement
  for (int i = 0; i < kMost; ++i) {
    sql = Replaced(sql, error.wrong, error.right);
    try {
      prepare(sql);
      return sql;
    } catch (const Misspelt& next) {
      error = next;
    } catch (const Error&) {
      return "";
    }
  }
  return "";
}

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
      throw Misspelt(Say("no function '{}'; did you mean '{}'?", *name, *nearest),
                     std::string(*name), *nearest);
  }
  Fail(ErrorKind::kUsage, "SQL: {}", message);
}

}  // namespace mpa::query
