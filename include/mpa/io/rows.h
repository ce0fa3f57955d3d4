// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Throws the error for a database whose ids make a query excessive: Error (kCorrupt).
[[noreturn]] void FailForDuplicates(const std::string& name);

/// Rows of a table, to be found by a key that is unique in nearly all databases.
class KeyedRows {
 public:
  KeyedRows(std::size_t columns, std::size_t rows);

  /// The first column is the key, which is not kept among the others.
  void Add(const Row& row);
  /// After the last row.
  void Sort();
  /// How many rows were added.
  std::size_t Count() const { return count_; }

  /// Calls visit() with each pair of a row of `left` and one of these that has the number in its
  /// last column as its key, in the order of the left rows and, for one of these, of the table: the
  /// columns of `left`, then those of the table. SQLite would look every row up, or make an index
  /// for the query. Throws what visit() throws, and Error (kCorrupt) for far more pairs than rows.
  /// `name`: of the database, for that.
  template <typename Visit>
  void Join(const KeptRows& left, const std::string& name, Visit&& visit) {
    std::vector<Row::Cell> cells(left.Columns() + rows_.Columns());
    std::size_t pairs = 0;
    for (std::size_t row = 0; row < left.Size(); ++row) {
      const auto key = left.Last(row);
      if (!key) continue;
      for (std::size_t place = FirstOf(*key); place < keys_.size() && keys_[place] == *key;
           ++place) {
        if (++pairs > kPairsAlways + left.Size() + count_) FailForDuplicates(name);
        left.Copy(row, cells.data());
        rows_.Copy(places_.empty() ? place : places_[place], cells.data() + left.Columns());
        visit(Row(cells.data()));
      }
    }
  }

 private:
  static constexpr std::size_t kPairsAlways = 1'000'000;

  std::size_t FirstOf(std::int64_t key);

  std::size_t count_ = 0;
  KeptRows rows_;
  std::vector<std::int64_t> keys_;
  std::vector<std::size_t> places_;  // by the order of the keys; empty: that of the rows
  std::size_t next_ = 0;             // behind the key that was found last
};

}  // namespace mpa::io
