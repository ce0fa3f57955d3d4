// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "mpa/base/time.h"

namespace mpa {

/// The operations of every table. Columns are plain vectors of equal length; row i is the i-th
/// element of each. A table names its columns like the members of its Row; Tie() lists them, for a
/// row and for the table alike. Times are nanoseconds. Missing values are -1 or the empty text
/// unless said otherwise.
template <typename Derived>
struct TableBase {
  std::size_t Size() const { return std::get<0>(Derived::Tie(self())).size(); }
  bool Empty() const { return Size() == 0; }

  template <typename Table = Derived, typename Row = typename Table::Row>
  void Append(const Row& row) {
    AppendTied(Derived::Tie(self()), Derived::Tie(row),
               std::make_index_sequence<std::tuple_size_v<decltype(Derived::Tie(row))>>());
  }

  /// Makes room for so many rows in all, so that columns do not move as they grow.
  void Reserve(std::size_t rows) {
    std::apply([&](auto&... column) { (column.reserve(rows), ...); }, Derived::Tie(self()));
  }

  /// Appends all rows of another table of the same kind; both must use the same string pool.
  void AppendAll(const Derived& other) {
    AppendColumns(Derived::Tie(self()), Derived::Tie(other),
                  std::make_index_sequence<std::tuple_size_v<decltype(Derived::Tie(other))>>());
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

  /// The rows in order of start, those that start together in table order.
  template <typename Table = Derived>
  std::vector<std::size_t> RowsByStart() const {
    const std::vector<TimeNs>& start = static_cast<const Table&>(*this).start;
    std::vector<std::size_t> rows(start.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    std::stable_sort(rows.begin(), rows.end(),
                     [&](std::size_t a, std::size_t b) { return start[a] < start[b]; });
    return rows;
  }

  /// Makes row i the former row `rows[i]`.
  void Reorder(const std::vector<std::size_t>& rows) {
    std::apply([&](auto&... column) { (Gather(column, rows), ...); }, Derived::Tie(self()));
  }

 private:
  template <typename Columns, typename Cells, std::size_t... I>
  static void AppendTied(Columns columns, Cells cells, std::index_sequence<I...>) {
    (std::get<I>(columns).push_back(std::get<I>(cells)), ...);
  }

  template <typename Columns, typename Others, std::size_t... I>
  static void AppendColumns(Columns columns, Others others, std::index_sequence<I...>) {
    (std::get<I>(columns).insert(std::get<I>(columns).end(), std::get<I>(others).begin(),
                                 std::get<I>(others).end()),
     ...);
  }

  template <typename T>
  static void Gather(std::vector<T>& column, const std::vector<std::size_t>& rows) {
    std::vector<T> gathered;
    gathered.reserve(rows.size());
    for (const std::size_t row : rows) gathered.push_back(column[row]);
    column = std::move(gathered);
  }

  Derived& self() { return static_cast<Derived&>(*this); }
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace mpa
