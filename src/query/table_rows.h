// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tables.h"

namespace mpa::query {

/// The rows of a table of one rank, or of a job, and what finds some of them. Columns are counted
/// as in TableInfo. What is worked out is kept: columns, the order by time, rows by a value.
class TableRows {
 public:
  /// Refers to all of them. `made`: what has the rows, where the rank does not.
  TableRows(const TableInfo& info, const RankTrace& trace, std::shared_ptr<const void> made);

  std::size_t Size() const { return size_; }
  Value At(std::size_t row, int column) const {
    const TableColumn& of = info_.columns[static_cast<std::size_t>(column)];
    if (of.cell != nullptr) return of.cell(table_, trace_.strings, row);
    const std::int64_t number = Derived(column)[row];
    return number < 0 ? Value() : Value{.kind = Value::Kind::kInteger, .integer = number};
  }

  /// Rows one behind the other, or listed.
  struct Selection {
    std::size_t begin = 0, end = 0;
    const std::uint32_t* rows = nullptr;  ///< where they are listed: of the positions the rows
    std::vector<std::uint32_t> own{};     ///< that list, where nothing else holds it
    std::size_t Row(std::size_t position) const {
      return rows == nullptr ? position : rows[position];
    }
  };
  Selection All() const { return {0, size_}; }
  /// Those in the table's time from `first` to `last`, in its order.
  Selection InTime(std::int64_t first, std::int64_t last) const;
  /// Those that may have this value in the column. Asked once they are looked through, asked again
  /// they are kept by their values, as for a join.
  Selection With(int column, const Value& value) const;

 private:
  using ByKey = std::pair<std::uint64_t, std::uint32_t>;

  const std::vector<std::int64_t>& Derived(int column) const;
  void OrderByTime() const;
  std::int64_t TimeOf(std::size_t row) const;

  const TableInfo& info_;
  const RankTrace& trace_;
  std::shared_ptr<const void> made_;
  const void* table_;
  std::size_t size_;
  mutable std::map<int, std::vector<std::int64_t>> derived_;
  mutable bool time_is_known_ = false;
  mutable std::vector<std::uint32_t> by_time_;  // empty: the rows are in order as they are
  struct Kept {
    std::vector<std::uint64_t> keys;
    std::vector<std::uint32_t> rows;  // in order of their keys
  };
  mutable std::map<int, Kept> kept_;
  mutable std::set<int> asked_;
};

}  // namespace mpa::query
