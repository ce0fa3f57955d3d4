// SPDX-License-Identifier: Apache-2.0
// Read-only access to SQLite databases.
#include "mpa/io/sqlite.h"

#include <sqlite3.h>

#include <cmath>
#include <system_error>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/io/numbers.h"

namespace mpa::io {
namespace {

// The path as a file: URI; immutable=1 keeps SQLite from creating -shm, -wal or journal files.
std::string ReadOnlyUri(const std::filesystem::path& path) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?mode=ro&immutable=1";
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      name_(std::move(other.name_)) {}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::Restart(std::int64_t parameter) {
  sqlite3_reset(statement_);
  sqlite3_bind_int64(statement_, 1, parameter);
}

bool Statement::Step() {
  const int status = sqlite3_step(statement_);
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) return false;
  Fail(ErrorKind::kCorrupt, "{}: {}", name_, sqlite3_errmsg(database_));
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::optional<std::int64_t> Statement::Int(int column) const {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement_, column);
    case SQLITE_FLOAT: {  // not by its text, which has 15 digits only
      const double value = sqlite3_column_double(statement_, column);
      if (!(std::fabs(value) < 9.2e18)) return std::nullopt;
      return std::llround(value);
    }
    case SQLITE_TEXT:
      return ScaledDecimal(Text(column), 0);
    default:
      return std::nullopt;
  }
}

std::string_view Statement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Database::Database(const std::filesystem::path& path) : name_(path.string()) {
  const std::string uri = ReadOnlyUri(path);
  const int status =
      sqlite3_open_v2(uri.c_str(), &database_, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  if (status != SQLITE_OK) {
    const std::string reason = database_ != nullptr ? sqlite3_errmsg(database_) : "out of memory";
    sqlite3_close(database_);
    Fail(ErrorKind::kInput, "{}: cannot open the database: {}", path.string(), reason);
  }
  try {
    HasTable("sqlite_master");  // reads the first page: a file that is no database fails here
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
  std::error_code error;
  const auto wal_size = std::filesystem::file_size(path.string() + "-wal", error);
  if (!error && wal_size > 0) {
    LogWarning(
        "{}: the last writes are still in the -wal file and are not seen; open and close the "
        "database once with sqlite3 to merge them",
        path.string());
  }
}

Database::~Database() { sqlite3_close(database_); }

bool Database::HasTable(std::string_view table) const {
  Statement query = Query(fmt::format(
      "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = '{}'", table));
  return query.Step();
}

bool Database::HasColumn(std::string_view table, std::string_view column) const {
  Statement query =
      Query(fmt::format("SELECT 1 FROM pragma_table_info('{}') WHERE name = '{}'", table, column));
  return query.Step();
}

bool Database::IsPrimaryKey(std::string_view table, std::string_view column) const {
  Statement query = Query(fmt::format(
      "SELECT 1 FROM pragma_table_info('{}') WHERE name = '{}' AND pk = 1 AND type = 'INTEGER'",
      table, column));
  return query.Step();
}

Statement Database::Query(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &statement,
                         nullptr) != SQLITE_OK) {
    Fail(ErrorKind::kCorrupt, "{}: {}", name_, sqlite3_errmsg(database_));
  }
  return Statement(database_, statement, name_);
}

}  // namespace mpa::io
