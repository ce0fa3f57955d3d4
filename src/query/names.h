// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/query/query.h"
#include "tables.h"

/// Names in statements: those that there are, and what misspelt ones may mean.
namespace mpa::query {

/// Whether the word stands somewhere in the text, as a whole.
bool HasWord(std::string_view text, std::string_view word);

/// As statements see them: those that every table has first.
std::vector<TableColumn> ColumnsOf(const TableInfo& table);
std::vector<std::string> ColumnNames(const TableInfo& table);
/// Of tables and views.
std::vector<std::string> TableNames();
std::vector<std::string_view> WordsOf(std::string_view sql);
/// The table of that name, or that the statement calls so: "FROM kernel k", "JOIN op AS o". Null:
/// there is none.
const TableInfo* TableCalled(std::string_view name, std::string_view sql);
/// The tables that a statement names.
std::vector<const TableInfo*> TablesIn(std::string_view sql);

/// Throws Misspelt or Error (kUsage) for what SQLite says of a statement; of an unknown name with
/// the nearest one of a table, column or function.
[[noreturn]] void FailWithNearest(const std::string& message, std::string_view sql);
[[noreturn]] void FailTable(std::string_view name);

/// The statement without the name that `error` is about, and others that are then found. `prepare`
/// throws for a statement that is wrong. Empty: it stays so.
std::string Corrected(std::string sql, Misspelt error,
                      const std::function<void(const std::string&)>& prepare);

}  // namespace mpa::query
