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

struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_value;

namespace mpa::io {

/// A row of a query, at most until the next one.
class Row {
 public:
  enum class Kind : std::uint8_t { kNull, kInteger, kOther };

  /// A cell, looked at once: nearly all are whole numbers, which readers take without a call.
  struct Cell {
    sqlite3_value* value = nullptr;
    std::int64_t number = 0;  ///< of kInteger
    Kind kind = Kind::kNull;
  };

  explicit Row(const Cell* cells) : cells_(cells) {}

  bool IsNull(int column) const { return cells_[column].kind == Kind::kNull; }
  /// True for a cell that is stored as a whole number.
  bool IsInteger(int column) const { return cells_[column].kind == Kind::kInteger; }
  /// A whole number, also from TEXT and REAL cells; empty for NULL and for text that is not a
  /// number.
  [[gnu::always_inline]] std::optional<std::int64_t> Int(int column) const {
    const Cell& cell = cells_[column];
    std::int64_t number = cell.number;
    if (cell.kind == Kind::kInteger || (cell.kind == Kind::kOther && IsNumber(cell.value, number)))
      return number;
    return std::nullopt;
  }
  std::int64_t IntOr(int column, std::int64_t fallback) const {
    return Int(column).value_or(fallback);
  }
  /// A finite real number, also from whole numbers and text; `fallback` for anything else.
  double RealOr(int column, double fallback) const;
  /// Empty for NULL.
  std::string_view Text(int column) const;

 private:
  /// Sets `number` if the cell, which is not a whole one, contains a number.
  static bool IsNumber(sqlite3_value* value, std::int64_t& number);

  const Cell* cells_;
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

/// Rows of a query, of which only numbers are kept.
class KeptRows {
 public:
  explicit KeptRows(std::size_t columns) : columns_(columns) {}

  std::size_t Columns() const { return columns_; }
  std::size_t Size() const { return kinds_.size() / columns_; }
  void Reserve(std::size_t rows);
  /// `row` without the columns before `first`.
  void Append(const Row& row, int first = 0);
  void Copy(std::size_t row, Row::Cell* cells) const;
  /// Empty for values that are not numbers.
  std::optional<std::int64_t> Number(std::size_t row, std::size_t column) const {
    const std::size_t at = row * columns_ + column;
    if (kinds_[at] != Row::Kind::kInteger) return std::nullopt;
    return numbers_[at];
  }
  /// The number in the last column.
  std::optional<std::int64_t> Last(std::size_t row) const { return Number(row, columns_ - 1); }

  template <typename Visit>
  void ForEach(Visit visit) const {
    std::vector<Row::Cell> cells(columns_);
    for (std::size_t row = 0; row < Size(); ++row) {
      Copy(row, cells.data());
      visit(Row(cells.data()));
    }
  }

 private:
  std::size_t columns_;
  std::vector<std::int64_t> numbers_;
  std::vector<Row::Kind> kinds_;
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
  /// The tables that Scan() and Keep() read as a whole, with the number of their rows.
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
  /// Calls visit() with each pair of rows with the same number in the last column of `left` and in
  /// `key` of the table, in the order of the left rows and, for one of these, of the table: the
  /// columns of `left`, then those of the table, of which only numbers are kept. SQLite would look
  /// every row up, or make an index for the query. Returns how many rows the table has. Throws like
  /// Scan().
  template <typename Visit>
  std::size_t Join(const KeptRows& left, const std::vector<std::string>& columns,
                   std::string_view table, std::string_view key, Visit&& visit) const {
    return JoinRows(left, columns, table, key, VisitorOf(visit));
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
  std::size_t JoinRows(const KeptRows& left, const std::vector<std::string>& columns,
                       std::string_view table, std::string_view key, Visitor visitor) const;

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

/// Throws the error for a database whose ids make a query excessive: Error (kCorrupt).
[[noreturn]] void FailForDuplicates(const std::string& name);

}  // namespace mpa::io
