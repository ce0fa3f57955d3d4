// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace mpa::io {

/// Appends rows to one table, several with each statement.
class TableWriter {
 public:
  ~TableWriter();
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;

  /// One value a column: a number, a text (UTF-8), or nullopt for NULL. A column of type TEXT turns
  /// numbers into text. Throws Error (kOutput).
  template <typename... Cells>
  void Add(const Cells&... cells) {
    (Put(cells), ...);
    EndRow();
  }
  // The same cell by cell: all rows have as many as the first one.
  void Put(std::integral auto number) {
    cells_.push_back({.type = Type::kInteger, .integer = static_cast<std::int64_t>(number)});
  }
  void Put(std::nullopt_t) { cells_.emplace_back(); }
  template <typename Number>
  void Put(const std::optional<Number>& number) {
    if (number) {
      Put(*number);
    } else {
      Put(std::nullopt);
    }
  }
  void Put(double number) { cells_.push_back({.type = Type::kReal, .real = number}); }
  void Put(std::string_view text);
  void EndRow() {
    if (rows_++ == 0) columns_ = cells_.size();
    if (rows_ == kBatch) InsertBatch();
  }

 private:
  friend class DatabaseWriter;

  // A statement costs as much as the columns of several rows.
  static constexpr std::size_t kBatch = 16;

  enum class Type : std::uint8_t { kNull, kInteger, kReal, kText };
  struct Cell {
    Type type{};
    std::int64_t integer = 0;  ///< of a text its place in texts_
    double real = 0;
    std::size_t size = 0;
  };

  TableWriter(sqlite3* database, std::string_view name) : database_(database), name_(name) {}

  sqlite3_stmt* Prepare(std::size_t rows) const;
  void Insert(sqlite3_stmt* statement, std::size_t first_cell, std::size_t cells);
  void InsertBatch();
  void InsertRest();

  sqlite3* database_;
  std::string name_;
  std::size_t columns_ = 0;
  sqlite3_stmt* insert_one_ = nullptr;
  sqlite3_stmt* insert_batch_ = nullptr;
  std::vector<Cell> cells_;  ///< of the rows that are not in the table yet
  std::string texts_;
  std::size_t rows_ = 0;
};

/// A database that is written in one go: without journal and without waiting for the disk. Errors
/// are of kind kOutput.
class DatabaseWriter {
 public:
  /// A new database, or one that is there, to which tables are added.
  explicit DatabaseWriter(const std::filesystem::path& path);
  ~DatabaseWriter();
  DatabaseWriter(const DatabaseWriter&) = delete;
  DatabaseWriter& operator=(const DatabaseWriter&) = delete;

  /// Creates a table, in place of one of that name, and fills it by add_rows(TableWriter&). Name
  /// and columns are as SQL has them: "id INTEGER PRIMARY KEY, name TEXT".
  template <typename AddRows>
  void WriteTable(std::string_view name, std::string_view columns, AddRows add_rows) {
    CreateTable(name, columns);
    TableWriter table(database_, name);
    add_rows(table);
    table.InsertRest();
  }
  /// A table with a row for each of `rows`, by add(i, TableWriter&); none without rows.
  template <typename Rows, typename AddRow>
  void WriteRows(std::string_view name, std::string_view columns, const Rows& rows, AddRow add) {
    if (rows.Empty()) return;
    WriteTable(name, columns, [&](TableWriter& table) {
      for (std::size_t i = 0; i < rows.Size(); ++i) add(i, table);
    });
  }
  /// For a table that has its rows: an index is built faster than it is kept up.
  void CreateIndex(std::string_view name, std::string_view table, std::string_view columns);
  /// The file is complete after this only.
  void Finish();

 private:
  void CreateTable(std::string_view name, std::string_view columns);
  void Run(const char* sql);

  sqlite3* database_ = nullptr;
};

}  // namespace mpa::io
