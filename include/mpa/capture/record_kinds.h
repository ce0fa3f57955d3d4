// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// The kinds of record files that profilers leave in raw captures, and which of them are read.
namespace mpa {

/// Where a record file lies: PROF_*/host/data, PROF_*/device_<N>/data, FRAMEWORK.
enum class RecordSide { kHost, kDevice, kFramework };

/// How the records of a kind are treated.
enum class RecordUse {
  kRead,
  kNotRead,      ///< no result depends on them
  kWorkNotRead,  ///< they describe device work, which is missing in the results
};

struct RecordKind {
  RecordSide side{};
  std::string_view name;   ///< "hbm"
  std::string_view files;  ///< stems of file names, separated by blanks; `*` is any text
  std::string_view holds;  ///< "reads and writes of the device's memory"
  RecordUse use{};
};

/// All known kinds: those of the host, of devices and of frameworks.
std::span<const RecordKind> AllRecordKinds();

/// The parts of the name of a record file in PROF_*.
struct RecordFileName {
  std::string_view stem;    ///< "compact.task_track", "stars_soc.data"; refers to the name
  std::int64_t number = 0;  ///< of the slice
  bool aging = false;       ///< the storage limit may have thinned it
};

/// Parses "aging.compact.task_track.slice_0", "stars_soc.data.0.slice_1",
/// "stars_soc.data.5.dev.profiler_default_tag.0.slice_1" and "hwts.log.data.45.0.1"; empty for
/// names that are not slices of records.
std::optional<RecordFileName> ParseRecordFileName(std::string_view name);

/// The kind of a file by its name; null: unknown. For the kinds in PROF_* that are read, only
/// slices are known.
const RecordKind* KindOfRecords(RecordSide side, std::string_view file_name);

/// The records in a capture.
struct RecordInventory {
  struct Entry {
    const RecordKind* kind = nullptr;
    std::int64_t files = 0, bytes = 0;
  };
  std::vector<Entry> kinds;                    ///< in the order of AllRecordKinds()
  std::vector<std::filesystem::path> unknown;  ///< files of unknown kinds, in name order
};

/// The contents of a raw capture (a *_ascend_pt, *_ascend_ms or PROF_* directory), determined from
/// names and sizes. Empty files are ignored. Throws Error (kInput) when the directory cannot be
/// listed.
RecordInventory ListRecords(const std::filesystem::path& capture);

}  // namespace mpa
