// SPDX-License-Identifier: Apache-2.0
// The databases of a parsed capture: fast bulk writing, texts, and which tables each has.
#include "profiler_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/parallel.h"
#include "mpa/base/utf8.h"
#include "mpa/io/scratch_directory.h"
#include "mpa/io/sqlite.h"
#include "mpa/profiler_output/profiler_output.h"

namespace mpa::profiler_output {

TableWriter::TableWriter(sqlite3* database, std::string_view name, std::size_t columns)
    : database_(database), name_(name), columns_(columns) {
  cells_.reserve(kBatch * columns);
}

TableWriter::~TableWriter() {
  sqlite3_finalize(insert_one_);
  sqlite3_finalize(insert_batch_);
}

void TableWriter::Put(std::optional<std::int64_t> number) {
  if (number) {
    Put(*number);
  } else {
    cells_.emplace_back();
  }
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
    io::FailToWrite(database_);
  }
  return statement;
}

void TableWriter::Insert(sqlite3_stmt* statement, std::size_t first_cell, std::size_t cells) {
  for (std::size_t i = 0; i < cells; ++i) {
    const Cell& cell = cells_[first_cell + i];
    const int place = static_cast<int>(i) + 1;
    switch (cell.type) {
      case Type::kNull:
        sqlite3_bind_null(statement, place);
        break;
      case Type::kInteger:
        sqlite3_bind_int64(statement, place, cell.integer);
        break;
      case Type::kReal:  // not-a-number becomes NULL
        sqlite3_bind_double(statement, place, cell.real);
        break;
      case Type::kText:
        sqlite3_bind_text64(statement, place, texts_.data() + cell.integer, cell.size,
                            SQLITE_STATIC, SQLITE_UTF8);
        break;
    }
  }
  if (sqlite3_step(statement) != SQLITE_DONE) io::FailToWrite(database_);
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
  std::filesystem::remove(path, error);
  const int status =
      sqlite3_open_v2(path.c_str(), &database_,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  try {
    if (status != SQLITE_OK) io::FailToWrite(database_);
    Run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; "
        "PRAGMA cache_size = -65536; BEGIN");
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

DatabaseWriter::~DatabaseWriter() { sqlite3_close(database_); }

std::size_t DatabaseWriter::CreateTable(std::string_view name, std::string_view columns) {
  Run(fmt::format("CREATE TABLE {} ({})", name, columns).c_str());
  return static_cast<std::size_t>(std::ranges::count(columns, ',')) + 1;
}

void DatabaseWriter::CreateIndex(std::string_view name, std::string_view table,
                                 std::string_view columns) {
  Run(fmt::format("CREATE INDEX {} ON {} ({})", name, table, columns).c_str());
}

void DatabaseWriter::Finish() { Run("COMMIT"); }

void DatabaseWriter::Run(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    io::FailToWrite(database_);
}

// The texts of a profiler database.

void DatabaseStrings::Write(DatabaseWriter& database) const {
  database.WriteTable("STRING_IDS", "id INTEGER PRIMARY KEY, value TEXT", [&](TableWriter& table) {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i] != 0)
        table.Add(i, ValidUtf8(session_.View(StringId{static_cast<std::uint32_t>(i)})));
    }
    // The empty text, first of every pool, is always the session's.
    for (std::size_t i = 1; i < made_.Size(); ++i) {
      table.Add(session_.Size() + i,
                ValidUtf8(made_.View(StringId{static_cast<std::uint32_t>(i)})));
    }
  });
}

// The profiler database of one rank.

void WriteProfilerDatabase(const raw::Session& session, const std::filesystem::path& path) {
  InContext(io::FinalName(path), [&] {
    DatabaseWriter database(path);
    DatabaseStrings strings(session.strings);
    WriteEnvironment(session, database);
    WriteCann(session, strings, database);
    WriteCollectives(session, strings, database);
    WriteFramework(session, strings, database);
    WriteMemory(session, strings, database);
    WriteTraffic(session.traffic, strings, database);
    strings.Write(database);
    database.Finish();
  });
}

// The databases of a parsed capture.

void WriteDatabases(const raw::Session& session, const std::filesystem::path& directory) {
  const bool mindspore = session.info.mindspore;
  const std::string rank = session.info.rank < 0 ? "" : fmt::format("_{}", session.info.rank);
  const std::string profiler =
      fmt::format("ascend_{}_profiler{}.db", mindspore ? "mindspore" : "pytorch", rank);
  // MindSpore's holds collectives alone; without a device side there is nothing to analyse.
  const char* analysis = mindspore ? "communication_analyzer.db" : "analysis.db";
  const bool analysed = !session.info.prof.empty() && !(mindspore && session.collectives.Empty());
  ParallelFor(analysed ? 2 : 1, [&](std::size_t i) {
    if (i == 0) {
      WriteProfilerDatabase(session, directory / profiler);
    } else {
      WriteAnalysisDatabase(session, directory / analysis);
    }
  });
  LogInfo("{}: made from all records", profiler);
  if (analysed) LogInfo("{}: made from steps (FRAMEWORK), tasks and collectives", analysis);
}

}  // namespace mpa::profiler_output
