// SPDX-License-Identifier: Apache-2.0
// Rows that are kept, and joins of them by a number.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/io/rows.h"
#include "mpa/io/sqlite.h"

namespace mpa::io {

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

KeyedRows::KeyedRows(std::size_t columns, std::size_t rows) : rows_(columns) {
  rows_.Reserve(rows);
  keys_.reserve(rows);
}

void KeyedRows::Add(const Row& row) {
  ++count_;
  const auto key = row.Int(0);
  if (!key) return;  // NULL equals nothing
  keys_.push_back(*key);
  rows_.Append(row, 1);
}

void KeyedRows::Sort() {
  if (std::ranges::is_sorted(keys_)) return;
  places_.resize(keys_.size());
  std::iota(places_.begin(), places_.end(), std::size_t{0});
  std::ranges::stable_sort(places_, {}, [&](std::size_t place) { return keys_[place]; });
  std::ranges::sort(keys_);
}

// Mostly that of the key behind the last that was found.
std::size_t KeyedRows::FirstOf(std::int64_t key) {
  const bool is_next =
      (next_ == keys_.size() || keys_[next_] >= key) && (next_ == 0 || keys_[next_ - 1] < key);
  if (!is_next)
    next_ = static_cast<std::size_t>(std::ranges::lower_bound(keys_, key) - keys_.begin());
  const std::size_t first = next_;
  while (next_ < keys_.size() && keys_[next_] == key) ++next_;
  return first;
}

KeptRows Database::Keep(const std::vector<std::string>& columns, std::string_view table) const {
  KeptRows rows(columns.size());
  rows.Reserve(ApproximateRows(table));
  Scan(fmt::format("{}", fmt::join(columns, ", ")), fmt::format("{} NOT INDEXED", table),
       [&](const Row& row) { rows.Append(row); });
  return rows;
}

KeyedRows Database::KeepByKey(std::string_view key, const std::vector<std::string>& columns,
                              std::string_view table) const {
  KeyedRows rows(columns.size(), ApproximateRows(table));
  Scan(fmt::format("{}, {}", key, fmt::join(columns, ", ")), fmt::format("{} NOT INDEXED", table),
       [&](const Row& row) { rows.Add(row); });
  rows.Sort();
  return rows;
}

}  // namespace mpa::io
