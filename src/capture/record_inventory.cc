// SPDX-License-Identifier: Apache-2.0
// Which kinds of records lie in a capture.
#include <system_error>

#include "raw_data.h"

namespace mpa {

RecordInventory ListRecords(const std::filesystem::path& capture) {
  const std::span<const RecordKind> all = AllRecordKinds();
  std::vector<RecordInventory::Entry> entries(all.size());
  RecordInventory inventory;
  for (const RawDirectory& directory : FindRawData(capture)) {
    for (const std::filesystem::path& file : directory.files) {
      std::error_code error;
      const auto bytes = std::filesystem::file_size(file, error);
      if (error || bytes == 0) continue;
      const RecordKind* kind = KindOfRecords(directory.side, file.filename().string());
      if (kind == nullptr) {
        inventory.unknown.push_back(file);
        continue;
      }
      RecordInventory::Entry& entry = entries[static_cast<std::size_t>(kind - all.data())];
      entry.kind = kind;
      ++entry.files;
      entry.bytes += static_cast<std::int64_t>(bytes);
    }
  }
  for (const RecordInventory::Entry& entry : entries) {
    if (entry.kind != nullptr) inventory.kinds.push_back(entry);
  }
  return inventory;
}

}  // namespace mpa
