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
  const TableInfo* called =
      alias.empty() ? nullptr : TableCalled(alias.substr(0, alias.size() - 1), sql);
  const std::string column(name.substr(of_alias));
  std::vector<std::string> columns, tables;
  for (const TableInfo* table : called ? std::vector{called} : TablesIn(sql)) {
    const std::vector<std::string> known = ColumnNames(*table);
    if (const auto nearest = Nearest(column, known)) {
      const std::vector<TableColumn> all = ColumnsOf(*table);
      const std::string unit = std::ranges::find(all, *nearest, &TableColumn::name)->unit;
      throw Misspelt(Say("no column '{}'; did you mean '{}.{}'{}?", column, table->name, *nearest,
                         unit.empty() ? "" : " (" + unit + ")"),
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

std::vector<TableColumn> ColumnsOf(const TableInfo& table) {
  std::vector<TableColumn> columns;
  if (table.IsOfRank()) {
    columns.push_back({"side", Value::Kind::kText, "", "base or comparison, with -bp"});
    columns.push_back({"rank", Value::Kind::kInteger, "", "rank of the job, or its label"});
  }
  if (!table.HasOwnId())
    columns.push_back({"id", Value::Kind::kInteger, "", "number of the row in its rank"});
  columns.insert(columns.end(), table.columns.begin(), table.columns.end());
  return columns;
}

std::vector<std::string> ColumnNames(const TableInfo& table) {
  std::vector<std::string> names;
  for (const TableColumn& column : ColumnsOf(table)) names.push_back(column.name);
  return names;
}

std::vector<std::string> TableNames() {
  std::vector<std::string> names = ViewNames();
  for (const TableInfo& table : AllTables()) names.push_back(table.name);
  return names;
}

std::vector<std::string_view> WordsOf(std::string_view sql) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < sql.size();) {
    std::size_t end = i;
    while (end < sql.size() && IsOfWord(sql[end])) ++end;
    if (end > i) words.push_back(sql.substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return words;
}

const TableInfo* TableCalled(std::string_view name, std::string_view sql) {
  if (const TableInfo* table = FindTable(name)) return table;
  const std::vector<std::string_view> words = WordsOf(sql);
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] != name) continue;
    const bool has_as = i > 1 && EqualsIgnoringCase(words[i - 1], "as");
    if (const TableInfo* table = FindTable(words[i - (has_as ? 2 : 1)])) return table;
  }
  return nullptr;
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
