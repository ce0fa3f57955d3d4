// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/capture/capture.h"
#include "mpa/capture/record_kinds.h"

namespace mpa {

/// The directories of a capture in which the profiler leaves its records, with the files in them.
struct RawDirectory {
  RecordSide side{};
  std::filesystem::path path;  ///< PROF_*/host/data, PROF_*/device_<N>/data, FRAMEWORK
  std::vector<std::filesystem::path> files;  ///< records only, in name order
  std::int64_t bytes = 0;
};

/// The directories with data in a capture directory or in a PROF_* directory.
std::vector<RawDirectory> FindRawData(const std::filesystem::path& capture);

/// The total size of the files.
std::int64_t TotalBytes(const std::vector<RawDirectory>& data);

/// The rank that PROF_*/host/info.json states; empty when it states none.
std::optional<std::int64_t> RankOfHost(const std::filesystem::path& capture);

/// The files that end within a record: their writer was killed, or the copy was cut off. Only kinds
/// of records are checked whose ends can be found without reading all records.
std::vector<std::filesystem::path> FindCutFiles(const std::vector<RawDirectory>& data);

/// The profiler's directory for parsed results, below the directory of a rank.
inline constexpr std::string_view kOutputDirectory = "ASCEND_PROFILER_OUTPUT";

/// The directory for the results of CANN's msprof, in PROF_*.
inline constexpr std::string_view kMsprofOutput = "mindstudio_profiler_output";

/// Adds a file. Throws Error (kInput) for an unreadable main file; an unreadable file next to it
/// only costs its own tables, and the error is reported on reading.
void AddFile(RankInput& rank, FileKind kind, const std::filesystem::path& path);

/// Adds the files of the last export in that directory, or in such a directory below it.
void AddMsprofOutput(const std::filesystem::path& directory, RankInput& rank);

/// The kind of a table of msprof by its name, with any number or word in it; empty: another file.
std::optional<FileKind> KindOfMsprofTable(std::string_view name);

/// Facts about a capture from its file names, and why it cannot be read; empty when it can.
struct ScannedRank {
  RankInput rank;
  std::string problem;
};

/// Throws Error for a directory or file that may not be read. `path` exists and is absolute.
ScannedRank ScanRank(const std::filesystem::path& path, const OpenOptions& options);

/// The directory of a capture, which holds its settings: `path` itself, or the directory above when
/// `path` is a file or the profiler's output directory.
std::filesystem::path CaptureDirectory(const std::filesystem::path& path);

/// The driver's directories in a capture, or the capture itself if it is one. They are called
/// PROF_*, or have the contents of such a directory.
std::vector<std::filesystem::path> MsprofDirectories(const std::filesystem::path& capture);

/// True for a directory with the records of the driver or of the framework, whatever its name.
bool HoldsRawData(const std::filesystem::path& directory);

/// The entries of a directory in name order, so that nothing depends on the file system.
std::vector<std::filesystem::path> Entries(const std::filesystem::path& directory);

/// Returns false also for a path that may not be examined.
bool IsDirectory(const std::filesystem::path& path);

/// A database that a profiler wrote, by its name.
bool IsProfilerDb(const std::filesystem::path& path);

/// What the events of a trace say of it.
struct TraceLook {
  bool is_array = false;    ///< the document is an array, else an object
  bool has_events = false;  ///< it is a trace at all
  /// In the form of Kineto, which GPUs have, or of the NPU's own profiler; empty: the events do not
  /// say.
  std::optional<bool> is_kineto;
  bool has_gpu = false;    ///< Kineto, with a GPU or work of one
  bool is_of_npu = false;  ///< Kineto, with an NPU
  /// It has events of categories that PyTorch's profilers write, or events at all.
  bool has_categories = false, has_phases = false;
  /// "JAX or TensorFlow": the program that wrote it, where that is another one, as far as its words
  /// say; "another program" where no event is of a known category.
  std::string_view writer;
};

/// Looks at a JSON file, which may be packed, until its text says whose work it is. Throws Error
/// (kInput) for an empty or unreadable file, (kCorrupt) for one that is not JSON.
TraceLook LookAtTrace(const std::filesystem::path& path);

/// Adds the traces of graph captures to a rank: those that were named, else those in the directory
/// kGraphCaptures beside its trace.
void AddGraphCaptures(RankInput& rank, const std::filesystem::path& named);

/// True for a table of MSOSRT, "msosrt_trace_4711_python3.csv"; for a log of gil_tracer, or what it
/// makes of one, "GIL_4711_rank_0.json".
bool IsSystemCallTable(const std::filesystem::path& path);
bool IsLockTrace(const std::filesystem::path& path);
/// True for a log of function_monitor, "function_monitor_4711.log".
bool IsFunctionLog(const std::filesystem::path& path);

/// Adds those that are in the capture.
void AddHostWaitFiles(RankInput& rank);
/// Adds those beside captures that are of a process which the name of the capture names.
void AddHostWaitFilesBeside(std::span<RankInput> ranks);
/// Adds the traces of the operating system's scheduler that lie in the capture or beside it.
void AddSchedulerTraces(RankInput& rank);
/// True for a pickle that begins as a memory snapshot. Throws Error (kInput).
bool HoldsMemorySnapshot(const std::filesystem::path& path);
/// The same of a file among others, by its name first.
bool IsMemorySnapshot(const std::filesystem::path& path);
/// Adds the snapshots in the directory of a capture.
void AddMemorySnapshots(RankInput& rank);
/// Where there are captures, each snapshot beside them becomes a file of its own one, or is left
/// out.
void JoinMemorySnapshots(std::vector<RankInput>& ranks);

/// "rank3", "rank_3" or "rank-3" as a word of a name; empty unless there is exactly one.
std::optional<std::int64_t> RankInName(std::string_view name);

/// Throws Error (kInput) when graph captures were named that are not there.
void CheckGraphCapture(const OpenOptions& options);

}  // namespace mpa
