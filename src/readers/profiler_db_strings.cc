// SPDX-License-Identifier: Apache-2.0
// Texts of a profiler database.
#include <fmt/format.h>

#include "mpa/base/language.h"
#include "profiler_db_tables.h"

namespace mpa::readers {

DbStrings::DbStrings(const io::Database& database, StringPool& pool, Issues& issues)
    : pool_(pool), issues_(issues) {
  if (!database.HasTable("STRING_IDS")) return;
  if (database.IsPrimaryKey("STRING_IDS", "id")) {
    lookup_.emplace(database.Query("SELECT value FROM STRING_IDS WHERE id = ?"));
  } else {
    LoadAll(database);  // a lookup by id would scan the table each time
  }
}

void DbStrings::LoadAll(const io::Database& database) {
  database.Scan("id, value", "STRING_IDS", [&](const io::Row& row) {
    const auto id = row.Int(0);
    if (id && !row.IsNull(1)) known_.try_emplace(*id, pool_.Intern(row.Text(1)));
  });
}

StringId DbStrings::Text(const io::Row& row, int column) {
  const auto id = row.Int(column);
  if (!id) return StringId::kEmpty;
  // Ids are counted in several ranges that begin at powers of two; multiplying separates them.
  const auto mixed = static_cast<std::uint64_t>(*id) * 0x9e3779b97f4a7c15u;
  Recent& recent = recent_[mixed / (~std::uint64_t{0} / kRecent + 1)];
  if (!recent.used || recent.id != *id) recent = {true, *id, Find(*id)};
  return recent.text;
}

StringId DbStrings::Find(std::int64_t id) {
  const auto [found, is_new] = known_.try_emplace(id, StringId::kEmpty);
  if (!is_new) return found->second;
  if (lookup_) {
    lookup_->Restart(id);
    if (lookup_->Step() && !lookup_->IsNull(0)) {
      return found->second = pool_.Intern(lookup_->Text(0));
    }
  }
  issues_.Count("text left empty, STRING_IDS does not have it", Say("id {}", id));
  return StringId::kEmpty;
}

}  // namespace mpa::readers
