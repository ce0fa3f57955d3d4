// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace mpa {

/// A value for each of many numbers that are known before. Profilers count connections and tasks:
/// the numbers lie close together, or in a few ranges, and are found without a search among all.
template <typename Value>
class ByNumber {
 public:
  explicit ByNumber(std::vector<std::int64_t> numbers) {
    if (numbers.empty()) return;
    const auto [least, most] = std::ranges::minmax(numbers);
    constexpr std::uint64_t kAlways = 1 << 16;
    if (Distance(least, most) <= kAlways + kWidest * numbers.size()) {
      AddRange(least, most);
    } else {
      if (!std::ranges::is_sorted(numbers)) std::ranges::sort(numbers);
      std::int64_t first = numbers.front(), last = first;
      for (const std::int64_t number : numbers) {
        if (Distance(last, number) > kWidest) {
          AddRange(first, last);
          first = number;
        }
        last = number;
      }
      AddRange(first, last);
    }
    const Range& end = ranges_.back();
    values_.resize(end.place + static_cast<std::size_t>(end.size));
  }

  /// Null for a number that was not known; one that lies between others may have a value that
  /// nobody set.
  const Value* Find(std::int64_t number) const {
    const auto behind = std::ranges::upper_bound(ranges_, number, {}, &Range::first);
    if (behind == ranges_.begin()) return nullptr;
    const Range& range = *std::prev(behind);
    const std::uint64_t at = Distance(range.first, number);
    return at < range.size ? &values_[range.place + static_cast<std::size_t>(at)] : nullptr;
  }
  Value* Find(std::int64_t number) {
    return const_cast<Value*>(static_cast<const ByNumber&>(*this).Find(number));
  }

 private:
  static constexpr std::uint64_t kWidest = 16;  // between two numbers of a range, on average

  struct Range {
    std::int64_t first = 0;
    std::uint64_t size = 0;
    std::size_t place = 0;  // of its first value
  };

  static std::uint64_t Distance(std::int64_t from, std::int64_t to) {
    return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  }

  void AddRange(std::int64_t first, std::int64_t last) {
    const std::size_t place =
        ranges_.empty() ? 0 : ranges_.back().place + static_cast<std::size_t>(ranges_.back().size);
    ranges_.push_back({first, Distance(first, last) + 1, place});
  }

  std::vector<Range> ranges_;  // ascending
  std::vector<Value> values_;
};

}  // namespace mpa
