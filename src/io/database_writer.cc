// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/database_writer.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>
#include <new>
#include <system_error>

#include "mpa/base/error.h"
#include "mpa/io/sqlite.h"

namespace mpa::io {
namespace {

// Error (kOutput) or std::bad_alloc.
[[noreturn]] void FailToWrite(sqlite3* database) {
  if (sqlite3_errcode(database) == SQLITE_NOMEM) throw std::bad_alloc();
  const int cause = sqlite3_system_errno(database);
  Fail(ErrorKind::kOutput, "the database cannot be written: {}{}", sqlite3_errmsg(database),
       cause == 0 ? "" : fmt::format(" ({})", std::strerror(cause)));
}

}  // namespace

TableWriter::~TableWriter() {
  sqlite3_finalize(insert_one_);
  sqlite3_finalize(insert_batch_);
}

void TableWriter::Put(std::string_view text) {
  cells_.push_back({.type = Type::kText,
                    .integer = static_cast<std::int64_t>(texts_.size()),
                    .size = text.size()});
  texts_ += text;
}

sqlite3_stmt* TableWriter::Prepare(std::size_t rows) const {
  std::string row = "(?";
  for (std::size_t i = 1; i < columns_; ++i) row += ",?";
  row += ')';
  std::string sql = fmt::format("INSERT INTO {} VALUES {}", name_, row);
  for (std::size_t i = 1; i < rows; ++i) sql += ',' + row;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    FailToWrite(database_);
  }
  return statement;
}

void TableWriter::Insert(sqlite3_stmt* statement, std::size_t first_cell, std::size_t cells) {
  for (std::size_t i = 0; i < cells; ++i) {
    const Cell& cell = cells_[first_cell + i];
    const int place = static_cast<int>(i) + 1;
    int status = SQLITE_OK;
    switch (cell.type) {
      case Type::kNull:
        status = sqlite3_bind_null(statement, place);
        break;
      case Type::kInteger:
        status = sqlite3_bind_int64(statement, place, cell.integer);
        break;
      case Type::kReal:  // not-a-number becomes NULL
        status = sqlite3_bind_double(statement, place, cell.real);
        break;
      case Type::kText:
        status = sqlite3_bind_text64(statement, place, texts_.data() + cell.integer, cell.size,
                                     SQLITE_STATIC, SQLITE_UTF8);
        break;
    }
    if (status != SQLITE_OK) FailToWrite(database_);
  }
  if (sqlite3_step(statement) != SQLITE_DONE) FailToWrite(database_);
  sqlite3_reset(statement);
}

void TableWriter::InsertBatch() {
  if (insert_batch_ == nullptr) insert_batch_ = Prepare(kBatch);
  Insert(insert_batch_, 0, cells_.size());
  cells_.clear();
  texts_.clear();
  rows_ = 0;
}

void TableWriter::InsertRest() {
  if (rows_ == 0) return;
  insert_one_ = Prepare(1);
  for (std::size_t row = 0; row < rows_; ++row) Insert(insert_one_, row * columns_, columns_);
}

DatabaseWriter::DatabaseWriter(const std::filesystem::path& path) {
  std::error_code error;
  const bool is_new = !std::filesystem::exists(path, error);
  const int status =
      sqlite3_open_v2(path.c_str(), &database_,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  try {
    if (status != SQLITE_OK) FailToWrite(database_);
    if (!is_new) Distrust(database_);
    Run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
        " PRAGMA cache_size = -65536; BEGIN");
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

DatabaseWriter::~DatabaseWriter() { sqlite3_close(database_); }

void DatabaseWriter::CreateTable(std::string_view name, std::string_view columns) {
  Run(fmt::format("DROP TABLE IF EXISTS {0}; CREATE TABLE {0} ({1})", name, columns).c_str());
}

void DatabaseWriter::CreateIndex(std::string_view name, std::string_view table,
                                 std::string_view columns) {
  Run(fmt::format("CREATE INDEX {} ON {} ({})", name, table, columns).c_str());
}

void DatabaseWriter::Finish() { Run("COMMIT"); }

void DatabaseWriter::Run(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) FailToWrite(database_);
}

}  // namespace mpa::io
