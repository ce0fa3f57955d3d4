// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/io/rows.h"

struct sqlite3;
struct sqlite3_stmt;

namespace mpa::io {

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

  Row row() const { return Row(cells_.data()); }
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
  std::vector<Row::Cell> cells_;
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
  /// About how many rows a table has, found without a scan; 0: unknown. It says how much to reserve
  /// and nothing else: where the numbers of the rows have gaps, or are damaged, it is far off.
  std::size_t ApproximateRows(std::string_view table) const;
  /// How many rows a table lost, of those that were written with growing numbers: `rows` are there.
  /// 0 for a table with a primary key, whose numbers may have gaps.
  std::int64_t LostRows(std::string_view table, std::int64_t rows) const;
  /// The tables that were read as a whole, with the number of their rows.
  const std::map<std::string, std::int64_t, std::less<>>& WholeTables() const { return whole_; }
  /// Throws Error (kInput) when the query does not fit the schema (a column is missing).
  Statement Query(std::string_view sql) const;
  /// Calls visit() with each row of "SELECT columns FROM source", without leaving SQLite's loop in
  /// between: about half the time of Step(). An ORDER BY has no effect; the rows come in the order
  /// in which SQLite finds them, that of the rowids in a table that is NOT INDEXED, alone or to the
  /// left of a CROSS JOIN. Throws what visit() throws, and Error like Query() and Step().
  template <typename Visit>
  void Scan(std::string_view columns, std::string_view source, Visit&& visit) const {
    ScanRows(columns, source, VisitorOf(visit));
  }
  /// The numbers of all rows of a table, in their order.
  KeptRows Keep(const std::vector<std::string>& columns, std::string_view table) const;
  /// The numbers of all rows of a table, to be found by `key`.
  KeyedRows KeepByKey(std::string_view key, const std::vector<std::string>& columns,
                      std::string_view table) const;
  /// For a table that was read as a whole on another connection.
  void NoteWholeTable(std::string_view table, std::size_t rows) const {
    whole_[std::string(table)] = static_cast<std::int64_t>(rows);
  }

  const std::string& name() const { return name_; }

 private:
  struct RunningScan;
  struct Effort;
  /// What the schema says of a table, read once.
  struct Table {
    bool exists = false;
    const char* computed = nullptr;  ///< how its contents are computed, which is refused
    std::map<std::string, bool, std::less<>> columns{};  ///< true: it is an INTEGER PRIMARY KEY
  };
  struct Visitor {
    void (*call)(const void* visitor, const Row& row);
    const void* visitor;
  };

  template <typename Visit>
  static Visitor VisitorOf(Visit& visit) {
    const auto call = [](const void* visitor, const Row& row) {
      (*static_cast<Visit*>(const_cast<void*>(visitor)))(row);
    };
    return {call, &visit};
  }
  void ScanRows(std::string_view columns, std::string_view source, Visitor visitor) const;

  /// Throws Error: kInput or kCorrupt.
  void ReadSchema();
  const Table& TableNamed(std::string_view name) const;
  static int NoteTable(void* database, int action, const char* table, const char*, const char*,
                       const char*);

  std::string name_;
  std::int64_t bytes_ = 0;
  sqlite3* database_ = nullptr;
  std::unique_ptr<Effort> effort_;       // of the last query
  mutable RunningScan* scan_ = nullptr;  // the innermost one
  mutable std::set<std::string> read_;   // the tables of the query that is being prepared
  mutable std::map<std::string, std::int64_t, std::less<>> whole_;
  mutable std::map<std::string, Table, std::less<>> tables_;
};

/// Prepares a connection for a database from an untrusted source: computed parts of its schema
/// (views, triggers, virtual tables, functions) are not run, and no cell may be larger than the
/// texts of the profiler.
void Distrust(sqlite3* database);

}  // namespace mpa::io
