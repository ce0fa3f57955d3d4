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
  io::Statement rows = database.Query("SELECT id, value FROM STRING_IDS");
  while (rows.Step()) {
    if (const auto id = rows.Int(0)) known_.try_emplace(*id, pool_.Intern(rows.Text(1)));
  }
}

StringId DbStrings::Text(const io::Statement& row, int column) {
  const auto id = row.Int(column);
  if (!id) return StringId::kEmpty;
  const auto [found, is_new] = known_.try_emplace(*id, StringId::kEmpty);
  if (is_new && lookup_) {
    lookup_->Restart(*id);
    if (lookup_->Step()) found->second = pool_.Intern(lookup_->Text(0));
  }
  return found->second;
}

}  // namespace mpa::readers
