// SPDX-License-Identifier: Apache-2.0
#include "raw/database_rows.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace mpa::test {

std::vector<std::string> DatabaseRows(const std::filesystem::path& path, const std::string& sql) {
  std::vector<std::string> rows;
  sqlite3* database = nullptr;
  sqlite3_stmt* statement = nullptr;
  sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
  sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr);
  while (sqlite3_step(statement) == SQLITE_ROW) {
    std::string& row = rows.emplace_back();
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const void* text = sqlite3_column_blob(statement, i);
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, i));
      if (i > 0) row += '|';
      if (sqlite3_column_type(statement, i) == SQLITE_NULL) {
        row += "NULL";
      } else if (size > 0) {
        row.append(static_cast<const char*>(text), size);
      }
    }
  }
  EXPECT_EQ(std::string(sqlite3_errmsg(database)), "no more rows available") << sql;
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return rows;
}

}  // namespace mpa::test
