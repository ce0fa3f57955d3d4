// SPDX-License-Identifier: Apache-2.0
#include "raw/database_rows.h"

#include "mpa/io/sqlite.h"

namespace mpa::test {

std::vector<std::string> DatabaseRows(const std::filesystem::path& path, const std::string& sql) {
  const io::Database database(path);
  // How many columns there are shows only in the text of the query: the outermost list.
  std::string columns = sql.substr(0, sql.find(" FROM "));
  int depth = 0;
  int count = 1;
  for (const char c : columns) {
    depth += (c == '(') - (c == ')');
    count += c == ',' && depth == 0;
  }
  std::vector<std::string> rows;
  io::Statement statement = database.Query(sql);
  while (statement.Step()) {
    std::string row;
    for (int i = 0; i < count; ++i) {
      if (i > 0) row += '|';
      row += statement.IsNull(i) ? "NULL" : std::string(statement.Text(i));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace mpa::test
