// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler_db_tables.h"

namespace mpa::readers {

/// The texts of call stacks, by their id.
class CallStacks {
 public:
  void Add(std::int64_t id, StringId text) { stacks_.push_back({id, text}); }
  /// After the last stack. Of several with one id the last one counts.
  void Sort();
  bool Empty() const { return stacks_.empty(); }
  std::optional<StringId> Find(std::int64_t id) const;

 private:
  struct Stack {
    std::int64_t id = 0;
    StringId text{};
  };
  std::vector<Stack> stacks_;
};

/// PYTORCH_CALLCHAINS.
CallStacks ReadCallStacks(DbInput& input);

}  // namespace mpa::readers
