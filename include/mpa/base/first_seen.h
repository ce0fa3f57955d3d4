// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace mpa {

/// Values by key, listed in the order in which the keys were first used.
template <typename Key, typename Value>
class FirstSeen {
 public:
  Value& operator[](const Key& key) {
    const auto [found, is_new] = row_of_.try_emplace(key, rows_.size());
    if (is_new) rows_.emplace_back(key, Value());
    return rows_[found->second].second;
  }

  /// Null where the key was never used.
  const Value* Find(const Key& key) const {
    const auto found = row_of_.find(key);
    return found != row_of_.end() ? &rows_[found->second].second : nullptr;
  }

  const std::vector<std::pair<Key, Value>>& rows() const { return rows_; }
  bool Empty() const { return rows_.empty(); }

 private:
  std::vector<std::pair<Key, Value>> rows_;
  std::map<Key, std::size_t> row_of_;
};

/// Calls visit(key, value of base, value of comparison) for the keys of `base`, then for those of
/// `comparison` alone; the value that is missing is null.
template <typename Key, typename Value, typename Visit>
void Join(const FirstSeen<Key, Value>& base, const FirstSeen<Key, Value>& comparison, Visit visit) {
  for (const auto& [key, value] : base.rows()) visit(key, &value, comparison.Find(key));
  for (const auto& [key, value] : comparison.rows()) {
    if (base.Find(key) == nullptr) visit(key, nullptr, &value);
  }
}

}  // namespace mpa
