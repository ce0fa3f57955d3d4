// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mpa {

/// A text of one rank's StringPool. Ids of two ranks are never compared, their texts are.
enum class StringId : std::uint32_t { kEmpty = 0 };

/// The position of `id` in a vector with one element per text of the pool.
inline std::size_t Index(StringId id) { return static_cast<std::size_t>(id); }

/// Keeps each distinct text once and names it by a 32-bit id, counted from the empty text.
class StringPool {
 public:
  StringPool() { Intern(""); }
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;

  StringId Intern(std::string_view text);
  std::string_view View(StringId id) const { return texts_[Index(id)]; }
  std::size_t Size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // deque: growth never moves the keys of ids_
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace mpa
