// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/shared_database.h"

#include <sqlite3.h>

#include <memory>
#include <new>

#include "mpa/base/error.h"
#include "mpa/io/sqlite.h"

namespace mpa::io {

SharedDatabase::SharedDatabase(const std::filesystem::path& path, Access access)
    : name_(path.string()), access_(access) {
  constexpr int kWaitMs = 60'000;
  const int create = access == Access::kAppend ? SQLITE_OPEN_CREATE : 0;
  const int status = sqlite3_open_v2(path.c_str(), &database_,
                                     SQLITE_OPEN_READWRITE | create | SQLITE_OPEN_NOMUTEX, nullptr);
  try {
    if (status != SQLITE_OK) FailWith(status);
    sqlite3_busy_timeout(database_, kWaitMs);
    Distrust(database_);
    // Who begins as a reader and writes later may have to give way to another one.
    Run(access == Access::kAppend ? "BEGIN IMMEDIATE" : "BEGIN");
    Run("SELECT 1 FROM sqlite_master");  // fails if the file is not a database
    Run("PRAGMA quick_check(1)", {}, [&](const Row& row) {
      if (row.Text(0) != "ok") FailWith(SQLITE_CORRUPT);
    });
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

SharedDatabase::~SharedDatabase() { sqlite3_close(database_); }

void SharedDatabase::Run(const char* sql, const Values& values,
                         const std::function<void(const Row& row)>& visit) {
  sqlite3_stmt* prepared = nullptr;
  if (const int status = sqlite3_prepare_v2(database_, sql, -1, &prepared, nullptr);
      status != SQLITE_OK)
    FailWith(status);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, sqlite3_finalize);
  int place = 0;
  for (const auto& value : values) {
    ++place;
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      sqlite3_bind_int64(prepared, place, *number);
    } else {
      const std::string_view text = std::get<std::string_view>(value);
      sqlite3_bind_text64(prepared, place, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    }
  }
  std::vector<Row::Cell> cells(static_cast<std::size_t>(sqlite3_column_count(prepared)));
  int status = SQLITE_ROW;
  while ((status = sqlite3_step(prepared)) == SQLITE_ROW) {
    if (!visit) continue;
    int column = 0;
    for (Row::Cell& cell : cells) {
      sqlite3_value* const at = sqlite3_column_value(prepared, column++);
      const int type = sqlite3_value_type(at);
      cell = {at, sqlite3_value_int64(at),
              type == SQLITE_INTEGER ? Row::Kind::kInteger
              : type == SQLITE_NULL  ? Row::Kind::kNull
                                     : Row::Kind::kOther};
    }
    visit(Row(cells.data()));
  }
  if (status != SQLITE_DONE) FailWith(status);
}

std::int64_t SharedDatabase::Number(const char* sql, const Values& values) {
  std::int64_t number = 0;
  Run(sql, values, [&](const Row& row) { number = row.IntOr(0, 0); });
  return number;
}

void SharedDatabase::Commit() { Run("COMMIT"); }

void SharedDatabase::FailWith(int status) const {
  constexpr int kPrimary = 0xff;  // the rest says more
  switch (status & kPrimary) {
    case SQLITE_NOMEM:
      throw std::bad_alloc();
    case SQLITE_NOTADB:
      Fail(ErrorKind::kCorrupt, "{}: it is not a database; give another file", name_);
    case SQLITE_CORRUPT:
      Fail(ErrorKind::kCorrupt,
           "{}: the database is damaged; take a copy of it from before, or begin another file",
           name_);
    default:
      break;
  }
  const ErrorKind kind = access_ == Access::kAppend ? ErrorKind::kOutput : ErrorKind::kInput;
  if ((status & kPrimary) == SQLITE_BUSY)
    Fail(kind, "{}: another process has been writing for a minute; try again", name_);
  Fail(kind, "{}: {}", name_, sqlite3_errmsg(database_));
}

}  // namespace mpa::io
