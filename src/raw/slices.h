// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/model/issues.h"
#include "record.h"

/// Record files are cut into slices; here they become streams of records again.
namespace mpa::raw {

/// One slice. `aging` ones may have been thinned by the storage limit.
struct Slice {
  std::filesystem::path path;
  std::int64_t number = 0;
  bool aging = false;
};

/// The slices of a directory host/data or device_<N>/data.
class DataFiles {
 public:
  DataFiles() = default;
  /// A missing directory has no files.
  explicit DataFiles(const std::filesystem::path& directory);

  /// The slices of a stem in the order of recording, of host files those first that do not age.
  /// The stem is "api_event.data", "compact.task_track", "stars_soc.data".
  const std::vector<Slice>& Of(std::string_view stem) const;
  bool Has(std::string_view stem) const { return !Of(stem).empty(); }
  /// For each stem with data one slice with data, in the order of the stems.
  std::vector<Slice> SomeSlices() const;

 private:
  std::map<std::string, std::vector<Slice>, std::less<>> slices_;
};

/// The marks by which a record is recognised.
struct Magic {
  std::size_t offset = 0;
  std::uint16_t value = 0;
};
inline constexpr Magic kHostMagic{0, 0x5A5A};
inline constexpr Magic kDeviceMagic{2, 0x6BD3};
inline constexpr Magic kNoMagic{};

/// Calls `visit` with runs of whole records of host files. Each slice holds whole records; of a
/// truncated slice the whole ones are read.
void VisitHostSlices(const DataFiles& files, std::string_view stem, std::size_t record_size,
                     Issues& issues,
                     const std::function<void(std::string_view records, const Slice&)>& visit);

/// The same for a device file, whose slices are one stream of bytes. Bytes that are not a whole
/// record are skipped where the magic says: at the beginning (the oldest data was removed) or at
/// the end (the writer crashed). Files without magic lost their beginning when slice 0 is missing.
void VisitDeviceStream(const DataFiles& files, std::string_view stem, std::size_t record_size,
                       Magic magic, Issues& issues,
                       const std::function<void(std::string_view records)>& visit);

/// True when no bit is set: for records without magic this means that the record was overwritten.
inline bool IsZero(std::string_view record) {
  return record.find_first_not_of('\0') == std::string_view::npos;
}

/// Calls visit(Record<kSize>) for each record of `records` that has its magic and counts the rest.
template <std::size_t kSize, typename Visit>
void ForEachRecord(std::string_view records, Magic magic, std::string_view stem, Issues& issues,
                   Visit visit) {
  for (std::size_t at = 0; records.size() - at >= kSize; at += kSize) {
    const Record<kSize> record(records.data() + at);
    if (magic.value == 0 && IsZero(record.Bytes())) {
      issues.Count("record left out, it holds nothing but zeros", stem);
      continue;
    }
    if (magic.value != 0 && record.U16(magic.offset) != magic.value) {
      issues.Count("record left out, it does not begin as its kind does", stem);
      continue;
    }
    visit(record);
  }
}

/// Calls visit(Record<kSize>, const Slice&) for each record of a stem of the host.
template <std::size_t kSize, typename Visit>
void ForEachHostRecord(const DataFiles& files, std::string_view stem, Issues& issues, Visit visit) {
  VisitHostSlices(files, stem, kSize, issues, [&](std::string_view records, const Slice& slice) {
    ForEachRecord<kSize>(records, kHostMagic, stem, issues,
                         [&](const Record<kSize>& record) { visit(record, slice); });
  });
}

/// Calls visit(Record<kSize>) for each record of a stem of a device.
template <std::size_t kSize, typename Visit>
void ForEachDeviceRecord(const DataFiles& files, std::string_view stem, Magic magic, Issues& issues,
                         Visit visit) {
  VisitDeviceStream(files, stem, kSize, magic, issues, [&](std::string_view records) {
    ForEachRecord<kSize>(records, magic, stem, issues, visit);
  });
}

/// How many whole records the slices of a stem hold at most, for reserving columns.
std::size_t CountRecords(const DataFiles& files, std::string_view stem, std::size_t record_size);

}  // namespace mpa::raw
