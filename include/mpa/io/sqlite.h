// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace mpa::io {

/// The rows of a running query.
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

  bool IsNull(int column) const;
  /// A whole number, also from TEXT and REAL cells; empty for NULL and for text that is no number.
  std::optional<std::int64_t> Int(int column) const;
  std::int64_t IntOr(int column, std::int64_t fallback) const {
    return Int(column).value_or(fallback);
  }
  /// Valid until the next Step(); empty for NULL.
  std::string_view Text(int column) const;

 private:
  friend class Database;
  Statement(sqlite3* database, sqlite3_stmt* statement, std::string name)
      : database_(database), statement_(statement), name_(std::move(name)) {}

  sqlite3* database_;
  sqlite3_stmt* statement_;
  std::string name_;
};

/// A database opened read-only and immutable: neither the file nor its directory is touched.
class Database {
 public:
  /// Throws Error: kInput when it cannot be opened, kCorrupt when it is not a database.
  explicit Database(const std::filesystem::path& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  bool HasTable(std::string_view table) const;
  bool HasColumn(std::string_view table, std::string_view column) const;
  /// True when rows are found by `column` without a scan: it is the table's INTEGER PRIMARY KEY.
  bool IsPrimaryKey(std::string_view table, std::string_view column) const;
  /// Throws Error (kCorrupt) when the query does not fit the schema (a column is missing).
  Statement Query(std::string_view sql) const;

  const std::string& name() const { return name_; }

 private:
  std::string name_;
  sqlite3* database_ = nullptr;
};

}  // namespace mpa::io
