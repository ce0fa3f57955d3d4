// SPDX-License-Identifier: Apache-2.0
// Texts of a profiler database.
#include "profiler_db_strings.h"

namespace mpa::readers {

DbStrings::DbStrings(const io::Database& database, StringPool& pool) : pool_(pool) {
  if (!database.HasTable("STRING_IDS")) return;
  if (database.IsPrimaryKey("STRING_IDS", "id")) {
    lookup_.emplace(database.Query("SELECT value FROM STRING_IDS WHERE id = ?"));
  } else {
    LoadAll(database);  // a lookup by id would scan the table each time
  }
}

void DbStrings::LoadAll(const io::Database& database) {
  database.Scan("id, value", "STRING_IDS", [&](const io::Row& row) {
    if (const auto id = row.Int(0)) known_.try_emplace(*id, pool_.Intern(row.Text(1)));
  });
}

StringId DbStrings::Text(const io::Row& row, int column) {
  const auto id = row.Int(column);
  if (!id) return StringId::kEmpty;
  // Ids are counted in several ranges that begin at powers of two; multiplying parts them.
  const auto mixed = static_cast<std::uint64_t>(*id) * 0x9e3779b97f4a7c15u;
  Recent& recent = recent_[mixed / (~std::uint64_t{0} / kRecent + 1)];
  if (!recent.used || recent.id != *id) recent = {true, *id, Find(*id)};
  return recent.text;
}

StringId DbStrings::Find(std::int64_t id) {
  const auto [found, is_new] = known_.try_emplace(id, StringId::kEmpty);
  if (is_new && lookup_) {
    lookup_->Restart(id);
    if (lookup_->Step()) found->second = pool_.Intern(lookup_->Text(0));
  }
  return found->second;
}

}  // namespace mpa::readers
