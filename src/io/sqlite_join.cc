// SPDX-License-Identifier: Apache-2.0
// Joins of two tables by a number that is unique in nearly all databases.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/io/sqlite.h"

namespace mpa::io {
namespace {

// The numbers of the right side, to be found by their key.
class KeyedRows {
 public:
  void Add(const Row& row, std::size_t columns) {
    ++count_;
    const auto key = row.Int(0);
    if (!key) return;  // NULL equals nothing
    keys_.push_back(*key);
    for (std::size_t column = 1; column <= columns; ++column) {
      const auto number = row.Int(static_cast<int>(column));
      const bool is_null = row.IsNull(static_cast<int>(column));
      numbers_.push_back(number.value_or(0));
      kinds_.push_back(number ? Row::Kind::kInteger
                              : (is_null ? Row::Kind::kNull : Row::Kind::kOther));
    }
  }

  // After the last row.
  void Sort() {
    if (std::ranges::is_sorted(keys_)) return;
    places_.resize(keys_.size());
    std::iota(places_.begin(), places_.end(), std::size_t{0});
    std::ranges::stable_sort(places_, {}, [&](std::size_t place) { return keys_[place]; });
    std::ranges::sort(keys_);
  }

  // Calls act(place) with each row of the key. Mostly it is the one behind the last that was found.
  template <typename Act>
  void ForEach(std::int64_t key, Act act) {
    const bool is_next =
        (next_ == keys_.size() || keys_[next_] >= key) && (next_ == 0 || keys_[next_ - 1] < key);
    if (!is_next) {
      next_ = static_cast<std::size_t>(std::ranges::lower_bound(keys_, key) - keys_.begin());
    }
    for (; next_ < keys_.size() && keys_[next_] == key; ++next_) {
      act(places_.empty() ? next_ : places_[next_]);
    }
  }

  void Copy(std::size_t place, std::size_t columns, Row::Cell* cells) const {
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t at = place * columns + column;
      cells[column] = {nullptr, numbers_[at], kinds_[at]};
    }
  }

  std::size_t Count() const { return count_; }

 private:
  std::size_t count_ = 0;
  std::vector<std::int64_t> keys_, numbers_;
  std::vector<Row::Kind> kinds_;
  std::vector<std::size_t> places_;  // by the order of the keys; empty: that of the rows
  std::size_t next_ = 0;
};

std::size_t ColumnsIn(std::string_view list) {
  return static_cast<std::size_t>(std::ranges::count(list, ',')) + 1;
}

}  // namespace

std::size_t Database::JoinRows(const JoinSide& left, const JoinSide& right, std::string_view key,
                               Visitor visitor) const {
  // Says what is missing of both tables.
  Query(fmt::format("SELECT {}, {} FROM {} {} CROSS JOIN {} {} ON {}.{} = {}.{}", left.columns,
                    right.columns, left.table, left.alias, right.table, right.alias, left.alias,
                    key, right.alias, key));
  const auto scan = [&](const JoinSide& side, const auto& visit) {
    Scan(fmt::format("{}.{}, {}", side.alias, key, side.columns),
         fmt::format("{} {} NOT INDEXED", side.table, side.alias), visit);
  };
  const std::size_t own = ColumnsIn(left.columns), others = ColumnsIn(right.columns);
  KeyedRows rows;
  scan(right, [&](const Row& row) { rows.Add(row, others); });
  rows.Sort();
  constexpr std::size_t kPairsAlways = 1'000'000;
  std::size_t most = kPairsAlways + rows.Count(), pairs = 0;
  std::vector<Row::Cell> cells(own + others);
  scan(left, [&](const Row& row) {
    ++most;
    const auto id = row.Int(0);
    if (!id) return;
    rows.ForEach(*id, [&](std::size_t place) {
      if (++pairs > most) FailForDuplicates(name_);
      for (std::size_t column = 0; column < own; ++column) {
        cells[column] = row.At(static_cast<int>(column) + 1);
      }
      rows.Copy(place, others, cells.data() + own);
      visitor.call(visitor.visitor, Row(cells.data()));
    });
  });
  return rows.Count();
}

}  // namespace mpa::io
