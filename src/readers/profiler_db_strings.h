// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "mpa/io/sqlite.h"
#include "mpa/model/issues.h"
#include "mpa/model/string_pool.h"

namespace mpa::readers {

/// The texts of a profiler database (STRING_IDS), fetched on first use: most texts of a large
/// database are call stacks that are never requested.
class DbStrings {
 public:
  DbStrings(const io::Database& database, StringPool& pool, Issues& issues);

  /// The text with this id in the database; empty for NULL and for missing ids, which are counted.
  StringId Text(const io::Row& row, int column);

 private:
  struct Recent {
    bool used = false;
    std::int64_t id = 0;
    StringId text{};
  };
  static constexpr std::size_t kRecent = 1 << 12;  // fits the cache of a core

  void LoadAll(const io::Database& database);
  StringId Find(std::int64_t id);

  StringPool& pool_;
  Issues& issues_;
  std::vector<Recent> recent_ = std::vector<Recent>(kRecent);
  std::unordered_map<std::int64_t, StringId> known_;
  std::optional<io::Statement> lookup_;  // empty when all texts were loaded at once
};

}  // namespace mpa::readers
