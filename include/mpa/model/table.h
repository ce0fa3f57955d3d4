// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpa/base/fields.h"
#include "mpa/base/rows_by.h"
#include "mpa/model/rare_column.h"
#include "mpa/model/string_pool.h"

namespace mpa {

/// Of<Rare<T>> is a value that many captures do not have, or the same everywhere: see RareColumn.
template <typename T>
struct Rare {};

namespace tables {

template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <typename T>
struct Field {
  using Cell = T;
  using Column = std::vector<Stored<T>>;
};
template <typename T>
struct Field<Rare<T>> {
  using Cell = T;
  using Column = RareColumn<Stored<T>>;
};

}  // namespace tables

/// What `Of<T>` is in the fields of a table: a value in its rows, a vector of them in the table.
template <typename T>
using InRow = typename tables::Field<T>::Cell;
template <typename T>
using InTable = typename tables::Field<T>::Column;

/// The value of a field of new rows where it is not zero or empty.
template <typename Value>
struct Initially {
  Value value;

  template <typename T>
  constexpr operator T() const {
    if constexpr (std::is_convertible_v<Value, T>) {
      return static_cast<T>(value);
    } else {
      return T();  // a column has no rows yet
    }
  }
};
template <typename Value>
Initially(Value) -> Initially<Value>;

/// Gives the texts of a row, or of another plain struct, their ids in another pool: texts[id].
template <typename Row, typename Texts>
void MapTexts(Row& row, Texts& texts) {
  const auto map = [&](auto& cell) {
    if constexpr (std::is_same_v<decltype(cell), StringId&>) cell = texts[cell];
  };
  std::apply([&](auto&... cell) { (map(cell), ...); }, FieldsOf(row));
}

/// A table, which declares its columns once, in `Fields`:
///
///     template <template <typename> class Of>
///     struct CopyFields {
///       Of<std::int32_t> task = Initially{-1};  ///< row in Tasks
///       Of<std::int64_t> bytes{};
///     };
///     struct Copies : Table<CopyFields> {};
///
/// Several declarations make one table: Table<HostOpFields, TorchOpFields> has the columns of both.
/// Columns are vectors of equal length, or like them; row i is the i-th element of each. Times are
/// nanoseconds. Missing values are -1 or the empty text unless said otherwise.
template <template <template <typename> class> class... Fields>
struct Table : Fields<InTable>... {
  struct JoinedRow : Fields<InRow>... {};
  using Row = std::conditional_t<sizeof...(Fields) == 1,
                                 std::tuple_element_t<0, std::tuple<Fields<InRow>...>>, JoinedRow>;

  /// References to all columns, in the order of their declaration.
  auto Columns() { return Join(FieldsOf(static_cast<Fields<InTable>&>(*this))...); }
  auto Columns() const { return Join(FieldsOf(static_cast<const Fields<InTable>&>(*this))...); }

  std::size_t Size() const { return std::get<0>(Columns()).size(); }
  bool Empty() const { return Size() == 0; }

  void Append(const Row& row) {
    ForEachPair(Columns(), Join(FieldsOf(static_cast<const Fields<InRow>&>(row))...),
                [](auto& column, const auto& cell) { column.push_back(cell); });
  }

  /// Makes room for so many rows in all, so that columns do not move as they grow.
  void Reserve(std::size_t rows) {
    std::apply([&](auto&... column) { (column.reserve(rows), ...); }, Columns());
  }

  /// Appends all rows of another table of the same kind; both must use the same string pool.
  void AppendAll(const Table& other) {
    ForEachPair(Columns(), other.Columns(), [](auto& column, const auto& more) {
      if constexpr (requires { column.Append(more); })
        column.Append(more);
      else
        column.insert(column.end(), more.begin(), more.end());
    });
  }

  /// The same for a table whose texts are those of another pool: texts[id] gives them here.
  template <typename Texts>
  void AppendAll(const Table& other, Texts& texts) {
    for (std::size_t i = 0; i < other.Size(); ++i) {
      Row row = other.At(i);
      MapTexts(row, texts);
      Append(row);
    }
  }

  /// Takes over these columns of a table that has more.
  template <typename Wider>
  void Take(Wider& wider) {
    (static_cast<void>(static_cast<Fields<InTable>&>(*this) = std::move(wider)), ...);
  }

  /// A copy of row i.
  Row At(std::size_t i) const {
    Row row;
    ForEachPair(Columns(), Join(FieldsOf(static_cast<Fields<InRow>&>(row))...),
                [i](const auto& column, auto& cell) { cell = column[i]; });
    return row;
  }

  /// Keeps the rows i with keep(i), in order.
  template <typename Keep>
  void Filter(Keep keep) {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < Size(); ++i) {
      if (keep(i)) kept.push_back(i);
    }
    Reorder(kept);
  }

  /// When row i ends.
  auto End(std::size_t i) const { return this->start[i] + this->dur[i]; }

  /// The rows in order of start, those that start together in table order.
  std::vector<std::size_t> RowsByStart() const { return RowsBy(this->start); }

  /// Makes row i the former row `rows[i]`.
  void Reorder(const std::vector<std::size_t>& rows) {
    std::apply([&](auto&... column) { (Gather(column, rows), ...); }, Columns());
  }

 private:
  // The fields of all declarations. One tuple stays as it is: builds that do not optimise are slow
  // to join them.
  template <typename... Tuples>
  static auto Join(Tuples... fields) {
    if constexpr (sizeof...(Tuples) == 1) {
      return (fields, ...);
    } else {
      return std::tuple_cat(fields...);
    }
  }

  // Calls `act` with each column and what stands for it in `others`.
  template <typename Own, typename Others, typename Act>
  static void ForEachPair(const Own& columns, const Others& others, Act act) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (act(std::get<I>(columns), std::get<I>(others)), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<Others>>());
  }

  template <typename T>
  static void Gather(std::vector<T>& column, const std::vector<std::size_t>& rows) {
    std::vector<T> gathered;
    gathered.reserve(rows.size());
    for (const std::size_t row : rows) gathered.push_back(column[row]);
    column = std::move(gathered);
  }
  template <typename T>
  static void Gather(RareColumn<T>& column, const std::vector<std::size_t>& rows) {
    column.Gather(rows);
  }
};

}  // namespace mpa
