// SPDX-License-Identifier: Apache-2.0
// Fast bulk writing of a new SQLite database.
#include "database_writer.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "mpa/base/error.h"

namespace mpa::profiler_output {
namespace {

[[noreturn]] void Complain(sqlite3* database) {
  Fail(ErrorKind::kOutput, "the database cannot be written: {}", sqlite3_errmsg(database));
}

}  // namespace

TableWriter::~TableWriter() { sqlite3_finalize(insert_); }

void TableWriter::Bind(int place, std::optional<std::int64_t> number) {
  if (number) {
    BindInteger(place, *number);
  } else {
    sqlite3_bind_null(insert_, place);
  }
}

void TableWriter::Bind(int place, double number) { sqlite3_bind_double(insert_, place, number); }

void TableWriter::Bind(int place, std::string_view text) {
  // Without a copy: the row is written before Add() returns. An empty view may have no address.
  sqlite3_bind_text64(insert_, place, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
}

void TableWriter::BindInteger(int place, std::int64_t number) {
  sqlite3_bind_int64(insert_, place, number);
}

void TableWriter::Step() {
  if (sqlite3_step(insert_) != SQLITE_DONE) Complain(database_);
  sqlite3_reset(insert_);
}

DatabaseWriter::DatabaseWriter(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  const int status = sqlite3_open_v2(path.c_str(), &database_,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  try {
    if (status != SQLITE_OK) Complain(database_);
    Run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; "
        "PRAGMA cache_size = -65536; BEGIN");
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

DatabaseWriter::~DatabaseWriter() { sqlite3_close(database_); }

TableWriter DatabaseWriter::CreateTable(std::string_view name, std::string_view columns) {
  Run(fmt::format("CREATE TABLE {} ({})", name, columns).c_str());
  std::string marks = "?";
  for (auto more = std::count(columns.begin(), columns.end(), ','); more > 0; --more) marks += ",?";
  const std::string insert = fmt::format("INSERT INTO {} VALUES ({})", name, marks);
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, insert.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    Complain(database_);
  }
  return TableWriter(database_, statement);
}

void DatabaseWriter::CreateIndex(std::string_view name, std::string_view table,
                                 std::string_view columns) {
  Run(fmt::format("CREATE INDEX {} ON {} ({})", name, table, columns).c_str());
}

void DatabaseWriter::Finish() { Run("COMMIT"); }

void DatabaseWriter::Run(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) Complain(database_);
}

}  // namespace mpa::profiler_output
