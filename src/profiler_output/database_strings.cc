// SPDX-License-Identifier: Apache-2.0
// The texts of a profiler database.
#include "database_strings.h"

#include "mpa/base/utf8.h"

namespace mpa::profiler_output {

void DatabaseStrings::Write(DatabaseWriter& database) const {
  database.WriteTable("STRING_IDS", "id INTEGER PRIMARY KEY, value TEXT", [&](TableWriter& table) {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i] != 0)
        table.Add(i, ValidUtf8(session_.View(StringId{static_cast<std::uint32_t>(i)})));
    }
    // The empty text, first of every pool, is always the session's.
    for (std::size_t i = 1; i < made_.Size(); ++i) {
      table.Add(session_.Size() + i,
                ValidUtf8(made_.View(StringId{static_cast<std::uint32_t>(i)})));
    }
  });
}

}  // namespace mpa::profiler_output
