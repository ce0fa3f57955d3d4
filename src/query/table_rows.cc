// SPDX-License-Identifier: Apache-2.0
#include "table_rows.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

namespace mpa::query {
namespace {

std::optional<std::uint64_t> KeyOf(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kInteger:
      return static_cast<std::uint64_t>(value.integer);
    case Value::Kind::kText:
      return std::hash<std::string_view>()(value.text);
    default:
      return std::nullopt;
  }
}

bool IsSame(const Value& a, const Value& b) {
  return a.kind == b.kind &&
         (a.kind == Value::Kind::kText ? a.text == b.text : a.integer == b.integer);
}

}  // namespace

TableRows::TableRows(const TableInfo& info, const RankTrace& trace,
                     std::shared_ptr<const void> made)
    : info_(info),
      trace_(trace),
      made_(std::move(made)),
      table_(made_ ? made_.get() : info.stored(trace)),
      size_(info.rows(table_)) {}

const std::vector<std::int64_t>& TableRows::Derived(int column) const {
  const auto [found, is_new] = derived_.try_emplace(column);
  if (is_new) found->second = info_.columns[static_cast<std::size_t>(column)].derive(trace_);
  return found->second;
}

std::int64_t TableRows::TimeOf(std::size_t row) const {
  const Value time = At(row, info_.time);
  return time.kind == Value::Kind::kInteger ? time.integer
                                            : std::numeric_limits<std::int64_t>::min();
}

void TableRows::OrderByTime() const {
  if (time_is_known_) return;
  time_is_known_ = true;
  std::vector<std::int64_t> times(size_);
  for (std::size_t row = 0; row < size_; ++row) times[row] = TimeOf(row);
  if (std::ranges::is_sorted(times)) return;
  by_time_.resize(size_);
  std::iota(by_time_.begin(), by_time_.end(), 0U);
  std::ranges::stable_sort(by_time_, {}, [&](std::uint32_t row) { return times[row]; });
}

TableRows::Selection TableRows::InTime(std::int64_t first, std::int64_t last) const {
  OrderByTime();
  const Selection all{0, size_, by_time_.empty() ? nullptr : by_time_.data()};
  // The first position with a time that is not before `time`, or that is behind it.
  const auto position = [&](std::int64_t time, bool behind) {
    std::size_t begin = 0, end = size_;
    while (begin < end) {
      const std::size_t middle = begin + (end - begin) / 2;
      const std::int64_t at = TimeOf(all.Row(middle));
      if (at < time || (behind && at == time))
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  };
  Selection some{0, size_, all.rows};
  some.begin = position(first, false);
  some.end = std::max(some.begin, position(last, true));
  return some;
}

TableRows::Selection TableRows::With(int column, const Value& value) const {
  const auto key = KeyOf(value);
  if (!key) return All();
  if (asked_.insert(column).second) {
    Selection some;
    for (std::size_t row = 0; row < size_; ++row) {
      if (IsSame(At(row, column), value)) some.own.push_back(static_cast<std::uint32_t>(row));
    }
    some.end = some.own.size();
    some.rows = some.own.data();  // stays where it is when the list is moved
    return some;
  }
  const auto [kept, is_new] = kept_.try_emplace(column);
  Kept& by_key = kept->second;
  if (is_new) {
    std::vector<ByKey> keys;
    for (std::size_t row = 0; row < size_; ++row) {
      if (const auto of_row = KeyOf(At(row, column)))
        keys.emplace_back(*of_row, static_cast<std::uint32_t>(row));
    }
    std::ranges::sort(keys);
    for (const auto& [of_row, row] : keys) {
      by_key.keys.push_back(of_row);
      by_key.rows.push_back(row);
    }
  }
  const auto [first, last] = std::equal_range(by_key.keys.begin(), by_key.keys.end(), *key);
  return {static_cast<std::size_t>(first - by_key.keys.begin()),
          static_cast<std::size_t>(last - by_key.keys.begin()), by_key.rows.data()};
}

}  // namespace mpa::query
