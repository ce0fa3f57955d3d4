// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_value;

namespace mpa::io {

/// A row of a query, at most until the next one.
class Row {
 public:
  explicit Row(sqlite3_value* const* values) : values_(values) {}

  bool IsNull(int column) const;
  /// True for a cell that is stored as a whole number.
  bool IsInteger(int column) const;
  /// A whole number, also from TEXT and REAL cells; empty for NULL and for text that is not a
  /// number.
  std::optional<std::int64_t> Int(int column) const;
  std::int64_t IntOr(int column, std::int64_t fallback) const {
    return Int(column).value_or(fallback);
  }
  /// A finite real number, also from whole numbers and text; `fallback` for anything else.
  double RealOr(int column, double fallback) const;
  /// Empty for NULL.
  std::string_view Text(int column) const;

 private:
  sqlite3_value* const* values_;
};

/// A query that runs row by row; its cells are those of the row that Step() moved to.
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement& operator=(Statement&&) = delete;

  /// Starts over with this value for the first parameter.
  void Restart(std::int64_t parameter);
  /// Moves to the next row; false at the end. Throws Error (kCorrupt) when the database is broken.
  bool Step();

  Row row() const { return Row(values_.data()); }
  bool IsNull(int column) const { return row().IsNull(column); }
  std::optional<std::int64_t> Int(int column) const { return row().Int(column); }
  std::int64_t IntOr(int column, std::int64_t fallback) const {
    return row().IntOr(column, fallback);
  }
  std::string_view Text(int column) const { return row().Text(column); }

 private:
  friend class Database;
  Statement(sqlite3* database, sqlite3_stmt* statement, std::string name);
  void Check(int status) const;

  sqlite3* database_;
  sqlite3_stmt* statement_;
  std::string name_;
  std::vector<sqlite3_value*> values_;
};

/// A database opened read-only: neither the file nor its directory is touched, even if the last
/// writes are still in a -wal file; these writes are visible. Views and other computed contents are
/// refused, and so are queries with an excessively large result (Error, kCorrupt). Only one thread
/// at a time may use it.
class Database {
 public:
  /// Throws Error: kInput when it cannot be opened or is still being written, kCorrupt when it is
  /// not a database.
  explicit Database(const std::filesystem::path& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Throws Error (kCorrupt) for a view or a virtual table of that name and for a table with
  /// generated columns.
  bool HasTable(std::string_view table) const;
  bool HasColumn(std::string_view table, std::string_view column) const;
  /// True when rows are found by `column` without a scan: it is the table's INTEGER PRIMARY KEY.
  bool IsPrimaryKey(std::string_view table, std::string_view column) const;
  /// An upper bound for the rows of a table, found without a scan; 0: unknown. It says how much to
  /// reserve and nothing else: in a damaged database it may be wrong.
  std::size_t RowsAtMost(std::string_view table) const;
  /// Throws Error (kInput) when the query does not fit the schema (a column is missing).
  Statement Query(std::string_view sql) const;
  /// Calls visit() with each row of "SELECT columns FROM source", without leaving SQLite's loop in
  /// between: about half the time of Step(). An ORDER BY has no effect; the rows come in the order
  /// in which SQLite finds them, that of the rowids in a table that is NOT INDEXED, alone or to the
  /// left of a CROSS JOIN. Throws what visit() throws, and Error like Query() and Step().
  void Scan(std::string_view columns, std::string_view source,
            const std::function<void(const Row&)>& visit) const;

  const std::string& name() const { return name_; }

 private:
  struct RunningScan;
  struct Effort;

  /// Throws Error: kInput or kCorrupt.
  void ReadSchema();
  bool HasGeneratedColumns(std::string_view table) const;
  static int NoteTable(void* database, int action, const char* table, const char*, const char*,
                       const char*);

  std::string name_;
  std::int64_t bytes_ = 0;
  sqlite3* database_ = nullptr;
  std::unique_ptr<Effort> effort_;       // of the last query
  mutable RunningScan* scan_ = nullptr;  // the innermost one
  mutable std::set<std::string> read_;   // the tables of the query that is being prepared
  mutable std::set<std::string> plain_;  // tables that HasTable() accepts
};

/// Prepares a connection for a database from an untrusted source: computed parts of its schema
/// (views, triggers, virtual tables, functions) are not run, and no cell may be larger than the
/// texts of the profiler.
void Distrust(sqlite3* database);

/// Throws the error for a failed write to `database`: Error (kOutput) or std::bad_alloc.
[[noreturn]] void FailToWrite(sqlite3* database);

}  // namespace mpa::io
