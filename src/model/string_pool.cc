// SPDX-License-Identifier: Apache-2.0
// The texts of one rank.
#include "mpa/model/string_pool.h"

namespace mpa {

StringId StringPool::Intern(std::string_view text) {
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<StringId>(texts_.size());
  const std::string& kept = texts_.emplace_back(text);
  ids_.emplace(kept, id);
  return id;
}

}  // namespace mpa
