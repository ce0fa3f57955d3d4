// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

namespace mpa {

/// A column in which many captures have one value only: not recorded, or the same in every row. It
/// takes memory from the first row on that has another.
template <typename T>
class RareColumn {
 public:
  using value_type = T;

  RareColumn() = default;
  /// `usual`: of new rows.
  RareColumn(T usual) : usual_(usual) {}

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    Iterator(const RareColumn& column, std::size_t row) : column_(&column), row_(row) {}
    const T& operator*() const { return (*column_)[row_]; }
    Iterator& operator++() {
      ++row_;
      return *this;
    }
    Iterator operator++(int) { return {*column_, row_++}; }
    bool operator==(const Iterator&) const = default;

   private:
    const RareColumn* column_ = nullptr;
    std::size_t row_ = 0;
  };
  using const_iterator = Iterator;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](std::size_t row) const { return is_stored_ ? values_[row] : usual_; }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }

  /// The values of all rows, to be changed, also those of rows to come. They take memory from now
  /// on.
  std::vector<T>& Stored() {
    if (!is_stored_) {
      is_stored_ = true;
      values_.reserve(std::max(size_, reserved_));
      values_.assign(size_, usual_);
    }
    return values_;
  }

  void reserve(std::size_t rows) {
    reserved_ = rows;
    if (is_stored_) values_.reserve(rows);
  }
  void resize(std::size_t rows) {
    if (size_ == 0) usual_ = T();
    if (is_stored_ || (rows > size_ && !IsUsual(T()))) Stored().resize(rows);
    size_ = rows;
  }
  void push_back(const T& value) {
    if (size_ == 0) usual_ = value;
    if (is_stored_ || !IsUsual(value)) Stored().push_back(value);
    ++size_;
  }
  void Append(const RareColumn& more) {
    if (!is_stored_ && !more.is_stored_ && IsUsual(more.usual_)) {
      size_ += more.size_;
      return;
    }
    for (const T& value : more) push_back(value);
  }
  /// Puts map(value) in the place of each value.
  template <typename Change>
  void Map(Change map) {
    usual_ = map(usual_);
    for (T& value : values_) value = map(value);
  }
  /// Makes row i the former row `rows[i]`.
  void Gather(const std::vector<std::size_t>& rows) {
    if (is_stored_) {
      std::vector<T> gathered;
      gathered.reserve(rows.size());
      for (const std::size_t row : rows) gathered.push_back(values_[row]);
      values_ = std::move(gathered);
    }
    size_ = rows.size();
  }

  friend bool operator==(const RareColumn& column, const std::vector<T>& values) {
    return std::equal(column.begin(), column.end(), values.begin(), values.end());
  }

 private:
  bool IsUsual(const T& value) const { return std::equal_to<T>()(value, usual_); }

  T usual_{};
  bool is_stored_ = false;  // false: `usual_` is in all rows
  std::vector<T> values_;
  std::size_t size_ = 0, reserved_ = 0;
};

}  // namespace mpa
