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

/// What becomes of the records of a kind.
enum class RecordUse {
  kRead,
  kNotRead,      ///< nothing that is read lacks anything without them
  kWorkNotRead,  ///< they describe work of the device, which is missing in the results
};

struct RecordKind {
  RecordSide side{};
  std::string_view name;   ///< "hbm"
  std::string_view files;  ///< stems of file names, separated by blanks; `*` is any text
  std::string_view holds;  ///< "reads and writes of the device's memory"
  RecordUse use{};
};

/// All kinds that are known: those of the host, of devices, of frameworks.
std::span<const RecordKind> AllRecordKinds();

/// The parts of the name of a record file in PROF_*.
struct RecordFileName {
  std::string_view stem;    ///< "compact.task_track", "stars_soc.data"; refers to the name
  std::int64_t number = 0;  ///< of the slice
  bool aging = false;       ///< the storage limit may have thinned it
};

/// Takes apart "aging.compact.task_track.slice_0", "stars_soc.data.0.slice_1",
/// "stars_soc.data.5.dev.profiler_default_tag.0.slice_1" and "hwts.log.data.45.0.1"; empty for what
/// is no slice of records.
std::optional<RecordFileName> ParseRecordFileName(std::string_view name);

/// The kind of a file by its name; null: unknown. Of the kinds in PROF_* that are read only slices
/// are known.
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

/// What lies in a raw capture (a *_ascend_pt, *_ascend_ms or PROF_* directory), told from names
/// and sizes. Empty files count for nothing. Throws Error (kInput) when it cannot be looked into.
RecordInventory ListRecords(const std::filesystem::path& capture);

}  // namespace mpa
