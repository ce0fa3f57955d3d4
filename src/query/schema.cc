// SPDX-License-Identifier: Apache-2.0
// What statements can name, from the declarations.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "functions.h"
#include "mpa/base/columns.h"
#include "mpa/base/text.h"
#include "mpa/query/query.h"
#include "names.h"
#include "tables.h"
#include "views.h"

namespace mpa {
namespace query {
namespace {

using Json = nlohmann::ordered_json;

std::string_view TypeOf(Value::Kind kind) {
  return kind == Value::Kind::kInteger ? "integer" : kind == Value::Kind::kReal ? "real" : "text";
}

Json ColumnJson(const TableColumn& column) {
  return {{"name", column.name},
          {"type", TypeOf(column.kind)},
          {"unit", column.unit},
          {"meaning", column.meaning}};
}

constexpr std::size_t kPageColumns = 119;

std::string ColumnLine(const TableColumn& column) {
  return fmt::format("| `{}` | {} | {} | {} |\n", column.name, TypeOf(column.kind), column.unit,
                     column.meaning);
}

}  // namespace
}  // namespace query

std::string SchemaJson() {
  using query::Json;
  Json document = {{"schema", "mpa.query.schema/1"}, {"tables", Json::array()}};
  for (const query::TableInfo& table : query::AllTables()) {
    Json columns = Json::array();
    for (const query::TableColumn& column : query::ColumnsOf(table))
      columns.push_back(query::ColumnJson(column));
    document["tables"].push_back({{"name", table.name},
                                  {"meaning", table.meaning},
                                  {"computed", table.stored == nullptr},
                                  {"columns", std::move(columns)}});
  }
  document["views"] = query::ViewNames();
  document["functions"] = Json::array();
  for (const query::FunctionInfo& function : query::AllFunctions())
    document["functions"].push_back({{"name", function.name},
                                     {"arguments", function.arguments},
                                     {"meaning", function.meaning}});
  return document.dump(1);
}

QueryAnswer SchemaOf(const std::string& name) {
  QueryAnswer answer;
  if (const query::TableInfo* table = query::FindTable(name)) {
    answer.columns = {{"column"}, {"type"}, {"unit"}, {"meaning"}};
    for (const query::TableColumn& column : query::ColumnsOf(*table))
      answer.rows.push_back(
          {column.name, std::string(query::TypeOf(column.kind)), column.unit, column.meaning});
  } else if (const std::string view = query::ViewText(name); !view.empty()) {
    answer.columns = {{name}};
    for (const std::string_view line : Split(view, '\n'))
      answer.rows.push_back({std::string(line)});
  } else if (!name.empty()) {
    query::FailTable(name);
  } else {
    answer.columns = {{"table"}, {"columns"}};
    for (const query::TableInfo& one : query::AllTables())
      answer.rows.push_back(
          {one.name, fmt::format("{}", fmt::join(query::ColumnNames(one), ", "))});
    for (const std::string& one : query::ViewNames()) answer.rows.push_back({one, Cell()});
  }
  return answer;
}

std::string SchemaPage() {
  std::string page =
      "# Tables of `query`\n\n"
      "This page lists the tables and columns of `msprof-analyze query`; [query.md](query.md) has"
      " questions.\nIt is made from the declarations of the tables;"
      " `msprof-analyze schema --json` prints the same for programs.\n\n"
      "NULL is what the capture does not record. Times are nanoseconds, sizes are bytes. Tables of"
      " ranks begin with\n`side` (hidden without `-bp`), `rank` and `id`; a column that is named"
      " after another table holds ids of it.\n";
  using query::kPageColumns;
  for (const query::TableInfo& table : query::AllTables()) {
    page += fmt::format("\n## {}\n\n", table.name);
    for (const std::string& line : Wrapped(table.meaning, 0, kPageColumns)) page += line + "\n";
    page += table.meaning.empty() ? "" : "\n";
    page += "| column | type | unit | meaning |\n|---|---|---|---|\n";
    for (const query::TableColumn& column : table.columns) page += query::ColumnLine(column);
  }
  page += "\n## Functions\n\n| function | gives |\n|---|---|\n";
  for (const query::FunctionInfo& function : query::AllFunctions())
    page += fmt::format("| `{}({})` | {} |\n", function.name, function.arguments, function.meaning);
  page += "\n## Views\n\nWith the names and columns of the profiler's databases:\n";
  for (const std::string& view : query::ViewNames()) page += fmt::format("`{}`\n", view);
  return page;
}

}  // namespace mpa
