// SPDX-License-Identifier: Apache-2.0
// Joins of two tables by a number that is unique in nearly all databases.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/io/sqlite.h"

namespace mpa::io {
namespace {

// The rows of the right side, to be found by their key.
class KeyedRows {
 public:
  KeyedRows(std::size_t columns, std::size_t rows) : rows_(columns) {
    rows_.Reserve(rows);
    keys_.reserve(rows);
  }

  // The first column is the key.
  void Add(const Row& row) {
    ++count_;
    const auto key = row.Int(0);
    if (!key) return;  // NULL equals nothing
    keys_.push_back(*key);
    rows_.Append(row, 1);
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
  void ForEach(std::optional<std::int64_t> of, Act act) {
    if (!of) return;
    const std::int64_t key = *of;
    const bool is_next =
        (next_ == keys_.size() || keys_[next_] >= key) && (next_ == 0 || keys_[next_ - 1] < key);
    if (!is_next) {
      next_ = static_cast<std::size_t>(std::ranges::lower_bound(keys_, key) - keys_.begin());
    }
    for (; next_ < keys_.size() && keys_[next_] == key; ++next_) {
      act(places_.empty() ? next_ : places_[next_]);
    }
  }

  void Copy(std::size_t place, Row::Cell* cells) const { rows_.Copy(place, cells); }

  std::size_t Count() const { return count_; }

 private:
  std::size_t count_ = 0;
  KeptRows rows_;
  std::vector<std::int64_t> keys_;
  std::vector<std::size_t> places_;  // by the order of the keys; empty: that of the rows
  std::size_t next_ = 0;
};

}  // namespace

void KeptRows::Reserve(std::size_t rows) {
  numbers_.reserve(rows * columns_);
  kinds_.reserve(rows * columns_);
}

void KeptRows::Append(const Row& row, int first) {
  const std::size_t at = kinds_.size();
  numbers_.resize(at + columns_);
  kinds_.resize(at + columns_);
  for (std::size_t i = 0; i < columns_; ++i) {
    const int column = first + static_cast<int>(i);
    const auto number = row.Int(column);
    numbers_[at + i] = number.value_or(0);
    kinds_[at + i] = number               ? Row::Kind::kInteger
                     : row.IsNull(column) ? Row::Kind::kNull
                                          : Row::Kind::kOther;
  }
}

void KeptRows::Copy(std::size_t row, Row::Cell* cells) const {
  for (std::size_t at = row * columns_; at < (row + 1) * columns_; ++at) {
    *cells++ = {nullptr, numbers_[at], kinds_[at]};
  }
}

KeptRows Database::Keep(const std::vector<std::string>& columns, std::string_view table) const {
  KeptRows rows(columns.size());
  rows.Reserve(ApproximateRows(table));
  Scan(fmt::format("{}", fmt::join(columns, ", ")), fmt::format("{} NOT INDEXED", table),
       [&](const Row& row) { rows.Append(row); });
  return rows;
}

std::size_t Database::JoinRows(const KeptRows& left, const std::vector<std::string>& columns,
                               std::string_view table, std::string_view key,
                               Visitor visitor) const {
  KeyedRows others(columns.size(), ApproximateRows(table));
  Scan(fmt::format("{}, {}", key, fmt::join(columns, ", ")), fmt::format("{} NOT INDEXED", table),
       [&](const Row& row) { others.Add(row); });
  others.Sort();
  constexpr std::size_t kPairsAlways = 1'000'000;
  const std::size_t most = kPairsAlways + left.Size() + others.Count();
  std::size_t pairs = 0;
  std::vector<Row::Cell> cells(left.Columns() + columns.size());
  for (std::size_t row = 0; row < left.Size(); ++row) {
    others.ForEach(left.Last(row), [&](std::size_t place) {
      if (++pairs > most) FailForDuplicates(name_);
      left.Copy(row, cells.data());
      others.Copy(place, cells.data() + left.Columns());
      visitor.call(visitor.visitor, Row(cells.data()));
    });
  }
  return others.Count();
}

}  // namespace mpa::io
