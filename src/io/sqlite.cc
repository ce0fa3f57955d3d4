// SPDX-License-Identifier: Apache-2.0
// Read-only access to SQLite databases.
#include "mpa/io/sqlite.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>
#include <utility>

#include "database_files.h"
#include "mpa/base/error.h"
#include "mpa/io/numbers.h"

namespace mpa::io {
namespace {

// The path as a file: URI by which SQLite neither locks nor creates anything: as a file that does
// not change, or, to see the writes in a -wal file, on a file system without locks.
std::string ReadOnlyUri(const std::filesystem::path& path, bool has_writes) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + (has_writes ? "?mode=ro&vfs=unix-none" : "?mode=ro&immutable=1");
}

[[noreturn]] void FailToRead(sqlite3* database, const std::string& name) {
  switch (sqlite3_errcode(database)) {
    case SQLITE_NOMEM:
      throw std::bad_alloc();
    case SQLITE_CORRUPT:
      Fail(ErrorKind::kCorrupt,
           "{}: the database is damaged, or a copy of it broke off; copy it again", name);
    default:
      Fail(ErrorKind::kCorrupt, "{}: {}", name, sqlite3_errmsg(database));
  }
}

// "TASK, STRING_IDS": the tables that a query reads.
std::string TablesOf(std::string_view sql) {
  std::string tables;
  std::string_view before;
  for (std::size_t at = 0; at < sql.size();) {
    const std::size_t end = std::min(sql.find_first_of(" ()", at), sql.size());
    const std::string_view word = sql.substr(at, end - at);
    if (before == "FROM" || before == "JOIN") {
      tables += fmt::format("{}{}", tables.empty() ? "" : ", ", word);
    }
    if (!word.empty()) before = word;
    at = end + 1;
  }
  return tables;
}

}  // namespace

// The aggregate function visit(cells...): one call for each row.
struct Database::RunningScan {
  const std::function<void(const Row&)>& visit;
  std::exception_ptr failure;

  static void VisitRow(sqlite3_context* context, int, sqlite3_value** values) {
    RunningScan& scan = **static_cast<RunningScan**>(sqlite3_user_data(context));
    try {
      scan.visit(Row(values));
    } catch (...) {  // must not pass through SQLite
      scan.failure = std::current_exception();
      sqlite3_result_error(context, "", 0);
    }
  }

  static void Finish(sqlite3_context*) {}
};

bool Row::IsNull(int column) const { return sqlite3_value_type(values_[column]) == SQLITE_NULL; }

bool Row::IsInteger(int column) const {
  return sqlite3_value_type(values_[column]) == SQLITE_INTEGER;
}

std::optional<std::int64_t> Row::Int(int column) const {
  sqlite3_value* value = values_[column];
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      return sqlite3_value_int64(value);
    case SQLITE_FLOAT: {  // not by its text, which has 15 digits only
      const double number = sqlite3_value_double(value);
      if (!(std::fabs(number) < 9.2e18)) return std::nullopt;
      return std::llround(number);
    }
    case SQLITE_TEXT:
      return ScaledDecimal(Text(column), 0);
    default:
      return std::nullopt;
  }
}

std::string_view Row::Text(int column) const {
  const unsigned char* text = sqlite3_value_text(values_[column]);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_value_bytes(values_[column]))};
}

Statement::Statement(sqlite3* database, sqlite3_stmt* statement, std::string name)
    : database_(database),
      statement_(statement),
      name_(std::move(name)),
      values_(static_cast<std::size_t>(sqlite3_column_count(statement))) {}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      name_(std::move(other.name_)),
      values_(std::move(other.values_)) {}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::Restart(std::int64_t parameter) {
  sqlite3_reset(statement_);
  sqlite3_bind_int64(statement_, 1, parameter);
}

void Statement::Check(int status) const {
  if (status == SQLITE_ROW || status == SQLITE_DONE) return;
  FailToRead(database_, name_);
}

bool Statement::Step() {
  const int status = sqlite3_step(statement_);
  Check(status);
  // Also behind the last row, where they are NULL. A connection without a mutex has no protected
  // values that would have to be told from these.
  int column = 0;
  for (sqlite3_value*& value : values_) value = sqlite3_column_value(statement_, column++);
  return status == SQLITE_ROW;
}

Database::Database(const std::filesystem::path& path) : name_(path.string()) {
  const bool has_writes = HasWrites(path);
  const std::string uri = ReadOnlyUri(path, has_writes);
  const int status =
      sqlite3_open_v2(uri.c_str(), &database_,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  try {
    if (status != SQLITE_OK) FailToRead(database_, name_);
    if (has_writes) {
      // The index of the -wal file is kept in memory, and the file stays as it is.
      sqlite3_db_config(database_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
      Query("PRAGMA locking_mode = EXCLUSIVE").Step();
    }
    sqlite3_create_function_v2(database_, "visit", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, &scan_,
                               nullptr, RunningScan::VisitRow, RunningScan::Finish, nullptr);
    HasTable("sqlite_master");  // reads the first page: a file that is no database fails here
  } catch (...) {
    sqlite3_close(database_);
    throw;
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
    if (sqlite3_errcode(database_) != SQLITE_ERROR) FailToRead(database_, name_);
    Fail(ErrorKind::kInput, "{}: {}: {}; the database is of an unknown version, or was changed",
         name_, TablesOf(sql), sqlite3_errmsg(database_));
  }
  return Statement(database_, statement, name_);
}

void Database::Scan(std::string_view columns, std::string_view source,
                    const std::function<void(const Row&)>& visit) const {
  Statement query = Query(fmt::format("SELECT visit({}) FROM {}", columns, source));
  RunningScan scan{visit, nullptr};
  RunningScan* const outer = std::exchange(scan_, &scan);
  const int status = sqlite3_step(query.statement_);
  scan_ = outer;
  if (scan.failure) std::rethrow_exception(scan.failure);
  query.Check(status);
}

}  // namespace mpa::io
