// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;

namespace mpa::profiler_output {

/// A whole number for a column of type TEXT.
struct Digits {
  explicit Digits(std::int64_t number)
      : size(std::to_chars(text.data(), text.data() + text.size(), number).ptr - text.data()) {}

  std::array<char, 20> text;  // "-9223372036854775808"
  std::ptrdiff_t size;
};

/// Appends rows to one table. It has to go before its database does.
class TableWriter {
 public:
  TableWriter(TableWriter&& other) noexcept
      : database_(other.database_), insert_(std::exchange(other.insert_, nullptr)) {}
  ~TableWriter();
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;
  TableWriter& operator=(TableWriter&&) = delete;

  /// One value a column; nullopt is NULL. Texts must be UTF-8. Throws Error (kOutput).
  template <typename... Cells>
  void Add(const Cells&... cells) {
    int place = 0;
    (Bind(++place, cells), ...);
    Step();
  }

 private:
  friend class DatabaseWriter;
  TableWriter(sqlite3* database, sqlite3_stmt* insert) : database_(database), insert_(insert) {}

  void Bind(int place, std::integral auto number) {
    BindInteger(place, static_cast<std::int64_t>(number));
  }
  void Bind(int place, std::optional<std::int64_t> number);
  void Bind(int place, double number);
  void Bind(int place, std::string_view text);
  void Bind(int place, const Digits& number) {
    Bind(place, std::string_view(number.text.data(), static_cast<std::size_t>(number.size)));
  }
  void BindInteger(int place, std::int64_t number);
  void Step();

  sqlite3* database_;
  sqlite3_stmt* insert_;
};

/// A database that is written once, in one go: without journal and without waiting for the disk.
/// Errors are of kind kOutput.
class DatabaseWriter {
 public:
  /// Takes the place of a file of that name.
  explicit DatabaseWriter(const std::filesystem::path& path);
  ~DatabaseWriter();
  DatabaseWriter(const DatabaseWriter&) = delete;
  DatabaseWriter& operator=(const DatabaseWriter&) = delete;

  /// `columns` as SQL has them: "id INTEGER PRIMARY KEY, name TEXT".
  TableWriter CreateTable(std::string_view name, std::string_view columns);
  /// For a table that has its rows: an index is built faster than it is kept up.
  void CreateIndex(std::string_view name, std::string_view table, std::string_view columns);
  /// Nothing is in the file before this.
  void Finish();

 private:
  void Run(const char* sql);

  sqlite3* database_ = nullptr;
};

}  // namespace mpa::profiler_output
