// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace mpa::readers {

/// A value for each of many numbers that are known before. Profilers count connections and tasks,
/// so that these lie close together and are found without a search.
template <typename Value>
class ByNumber {
 public:
  explicit ByNumber(const std::vector<std::int64_t>& numbers) {
    if (numbers.empty()) return;
    const auto [least, most] = std::ranges::minmax(numbers);
    constexpr std::uint64_t kPerNumber = 16, kAlways = 1 << 16;
    const std::uint64_t range =
        static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) + 1;
    if (range != 0 && range <= kAlways + kPerNumber * numbers.size()) {
      first_ = least;
      near_.resize(static_cast<std::size_t>(range));
    } else {
      for (const std::int64_t number : numbers) far_.try_emplace(number);
    }
  }

  /// Null for a number that was not known; one that lies between others may have a value that
  /// nobody set.
  Value* Find(std::int64_t number) {
    if (near_.empty()) {
      const auto found = far_.find(number);
      return found != far_.end() ? &found->second : nullptr;
    }
    const std::uint64_t at =
        static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(first_);
    return at < near_.size() ? &near_[static_cast<std::size_t>(at)] : nullptr;
  }

 private:
  std::int64_t first_ = 0;
  std::vector<Value> near_;
  std::unordered_map<std::int64_t, Value> far_;
};

}  // namespace mpa::readers
