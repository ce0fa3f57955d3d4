// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "mpa/model/string_pool.h"

namespace mpa::raw {

/// Numbers the distinct texts of one part of a file in order of appearance, 0 is the empty one.
/// Faster than a StringPool, and every thread has its own: only the few distinct texts of a part
/// go on to the pool. The texts are views into the file.
class LocalTexts {
 public:
  /// The number as a StringId, for a column that is translated later.
  StringId Number(std::string_view text);
  const std::vector<std::string_view>& All() const { return texts_; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = 0;  // 0: free
  };
  void Grow();

  std::vector<std::string_view> texts_{std::string_view()};
  std::vector<Slot> slots_;  // open addressing; a power of two, at most half full
};

}  // namespace mpa::raw
