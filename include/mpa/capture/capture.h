// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/settings/settings.h"

namespace mpa {

/// The profiler's schedule, in steps.
struct ProfilerSchedule {
  std::int64_t wait = 0, warmup = 0, active = 0, repeat = 0, skip_first = 0;
};

/// How a capture was collected, from profiler_info.json or profiler_info_<rank>.json. A member is
/// empty where the file does not say.
struct ProfilerInfo {
  std::filesystem::path path;
  std::optional<std::int64_t> rank;
  std::string rank_problem;             ///< that the document states another rank than its name
  std::string level;                    ///< "Level0", "Level1", "Level2", "Level_none"
  std::string aic_metrics;              ///< "ACL_AICORE_PIPE_UTILIZATION", ...
  std::vector<std::string> activities;  ///< "ProfilerActivity.CPU", "ProfilerActivity.NPU"
  std::optional<ProfilerSchedule> schedule;
  bool record_shapes = false, profile_memory = false, with_stack = false, with_modules = false;
  bool mstx = false;
  bool records_garbage = false;  ///< collections that Python makes, from a length on
  bool has_end = false;          ///< the profiler was stopped properly
  std::string torch_npu_version, cann_version;
  RecordedSettings recorded;  ///< of the profiler and versions, all that the file says

  bool HasActivity(const std::string& name) const;
  /// Level0 without the CPU activity: device times only.
  bool Minimal() const { return level == "Level0" && !HasActivity("ProfilerActivity.CPU"); }
};

/// Reads the document; members of unexpected type count as absent. The number in the file's name
/// is the rank; without one, `rank_id` of the document is. Throws Error (kInput, kCorrupt).
ProfilerInfo ReadProfilerInfo(const std::filesystem::path& path);

/// The same from profiler_config.json, the request of dynamic profiling. It contains the settings,
/// but no rank, no versions and no end.
ProfilerInfo ReadProfilerConfig(const std::filesystem::path& path);

/// The number in profiler_info_<number>.json, ascend_pytorch_profiler_<number>.db and the like.
std::optional<std::int64_t> NumberInName(const std::filesystem::path& path);

/// A process group of the job: an entry of "pg_config" of "distributedInfo".
struct ProcessGroup {
  std::string name, description;  ///< "0", "default_pg"
  std::vector<RankId> ranks;      ///< empty: not all of them are listed
};

/// What a GPU trace says of itself beside its events. A member is empty, or false, where the trace
/// does not say.
struct GpuTraceFacts {
  std::optional<std::int64_t> rank, world_size;  ///< "distributedInfo"
  std::string device_name;                       ///< of the first of the "deviceProperties"
  std::vector<ProcessGroup> groups;              ///< since PyTorch 2.3
  bool record_shapes = false, profile_memory = false, with_stack = false, with_modules = false;
  RecordedSettings recorded;  ///< of the profiler, versions and metadata
};

/// Reads the members before the events and those behind them; exporters write either. Without a
/// rank and a device before the events, a compressed trace is unpacked up to its end. Broken
/// members count as absent. Throws Error (kInput, kCorrupt) when the file cannot be read.
GpuTraceFacts ReadGpuTraceFacts(const std::filesystem::path& path);

/// True for the name of an archive or packed file (.tar, .tgz, .zip, .gz, ...) that is not a trace.
bool IsArchive(const std::filesystem::path& path);

/// The message for an archive that was given as a capture.
inline constexpr std::string_view kArchiveProblem =
    "an archive; unpack it first, and give the directory that is in it";

/// The kinds of files in a capture, by content.
enum class FileKind {
  kTraceView,       ///< trace_view.json of an NPU capture, msprof_*.json
  kKinetoTrace,     ///< PyTorch trace of a GPU
  kNpuKinetoTrace,  ///< PyTorch trace of an NPU, by torch.profiler with torch_npu's plug-in
  kKernelDetails,   ///< kernel_details.csv, op_summary_*.csv; may be several
  kOperatorMemory,  ///< operator_memory.csv
  kMemoryRecord,    ///< memory_record.csv
  kOpStatistic,     ///< op_statistic.csv, op_statistic_*.csv; may be several
  kL2Cache,         ///< l2_cache.csv, l2_cache_*.csv; may be several
  kCommunication,   ///< communication.json
  kCommMatrix,      ///< communication_matrix.json
  kAnalysisDb,  ///< analysis.db beside a profiler database, communication_analyzer.db of MindSpore
  kStepTraceTime,     ///< step_trace_time.csv
  kProfilerMetadata,  ///< profiler_metadata.json
  kProfilerDb,        ///< ascend_pytorch_profiler*.db and its relatives
  kDeviceInfo,        ///< info.json.<N> of a device, in PROF_*/device_<N>; may be several
  kRawCapture,        ///< the directory that holds PROF_* and FRAMEWORK, or a PROF_* itself
  kMemorySnapshot,    ///< of the framework's allocator, a pickle; may be several
  kSchedulerTrace,    ///< of the operating system: ftrace, perf sched; may be several
  kSystemCalls,       ///< CSV of the OSRT library; may be several
  kLockTrace,         ///< log of gil_tracer
  kFunctionLog,       ///< log of function_monitor
  kHardwareTable,     ///< CSV of counters of memories and links; may be several
  kServerTable,       ///< CSV or database of msServiceProfiler; may be several
  kGraphCapture,      ///< trace of torch.profiler of the capture of graphs; may be several
};

struct CaptureFile {
  FileKind kind{};
  std::filesystem::path path;
  std::int64_t bytes = 0;                          ///< with the slices
  std::vector<std::filesystem::path> slices = {};  ///< of a trace in several files: the others
  std::filesystem::path outside = {};  ///< where a link leads that must not be followed; else empty
};

/// True for a file without which a capture cannot be read.
bool IsMain(FileKind kind);
/// Throws Error (kInput) for a link that must not be followed.
void CheckFollowed(const CaptureFile& file);

enum class CaptureKind {
  kUnknown,  ///< nothing readable
  kNpuText,
  kNpuDb,
  kNpuRaw,  ///< as the profiler left it: PROF_* and FRAMEWORK
  kGpu,
  kSnapshot,   ///< snapshots of the framework's allocator alone
  kServer,     ///< records of a server's requests alone
  kNpuKineto,  ///< of torch.profiler, in the form that traces of GPUs have
};

/// True for traces of torch.profiler.
constexpr bool IsKineto(CaptureKind kind) {
  return kind == CaptureKind::kGpu || kind == CaptureKind::kNpuKineto;
}

/// What lies in mindstudio_profiler_output in addition to the files that are read.
struct MsprofOutput {
  std::vector<std::filesystem::path> earlier;  ///< exports before the one that is read
  std::vector<std::string> unread;             ///< tables by name: "task_time"
  std::vector<std::string> lost_slices;        ///< "op_summary_slice_0_*.csv"
};

/// What was captured on one rank: its files, and what the profiler's own settings say.
struct RankInput {
  CaptureKind kind{};
  std::filesystem::path path;  ///< as given or found, absolute, symbolic links resolved
  std::vector<CaptureFile> files;
  std::optional<ProfilerInfo> info;  ///< empty when there is no readable profiler_info*.json
  std::string info_problem;          ///< why an existing profiler_info*.json cannot be read
  /// Without a readable profiler_info*.json: the rank in the name of that file.
  std::optional<std::int64_t> host_rank;
  RankId rank{};  ///< its number in the job, or what stands for its label; see NameRanks()
  std::string rank_conflict;  ///< that its sources state different numbers
  std::string rank_origin;    ///< that only a group of communication tells the number
  std::optional<std::int64_t> impossible_rank;  ///< a number that a source states and no job has
  std::optional<GpuTraceFacts> gpu;  ///< of a Kineto trace, once NameRanks() looked at it
  std::vector<std::filesystem::path> unread_databases;  ///< in addition to the one in `files`
  std::optional<MsprofOutput> msprof;                   ///< of the results of CANN's msprof
  bool follow_links = false;                            ///< including those outside the capture
  /// The graph captures among the files were named, not found.
  bool names_graph_capture = false;

  const CaptureFile* Find(FileKind file_kind) const;
  /// The trace of torch.profiler, of any device; null when it is another capture.
  const CaptureFile* FindKineto() const;
};

/// How captures are opened.
/// Several captures, or directories of such, that were given together.
struct ChosenCaptures {
  std::filesystem::path top;  ///< the directory above all of them; stands for them
  std::vector<std::filesystem::path> paths;
};

/// Without the doubles; "/a" for "/a/x" and "/a/y". Throws Error (kInput) for one that cannot be
/// read.
ChosenCaptures Together(const std::vector<std::filesystem::path>& paths);

struct OpenOptions {
  /// No warnings about foreign owners and open permissions; links out of the capture are followed.
  bool force = false;
  bool raw = false;  ///< read the raw data even if it was parsed already
  /// The trace in which graphs were captured, or a directory of such; empty: those in the directory
  /// kGraphCaptures beside a trace, if any.
  std::filesystem::path graph_capture = {};
  /// Below their `top` nothing else is looked at.
  ChosenCaptures chosen = {};
  /// OpenRank() takes the records of a server where there is nothing else.
  bool servers = false;
};

/// The directory in which serving engines leave the traces of the capture of their graphs.
inline constexpr std::string_view kGraphCaptures = "capture_traces";
/// In it: the batch and the mode of each of its traces.
inline constexpr std::string_view kGraphCaptureList = "execution_details.json";

/// A trace that kGraphCaptureList lists.
struct ListedGraphCapture {
  std::string file;         ///< name of the trace
  std::int64_t batch = -1;  ///< -1: the list does not say
  std::string mode;
};

/// Reads the list in a directory. Empty without a list, or where it is broken.
std::vector<ListedGraphCapture> ReadGraphCaptureList(const std::filesystem::path& directory);

/// The capture of one rank at `path`: a *_ascend_pt or *_ascend_ms directory, an
/// ASCEND_PROFILER_OUTPUT directory, a PROF_* or mindstudio_profiler_output directory, or one trace
/// (.json, .json.gz), database (.db) or table; or a directory with exactly one of them. Only names,
/// sizes and small documents are read. A capture that was not parsed is opened as it is (kNpuRaw).
/// Throws Error (kInput) that says what is missing there.
RankInput OpenRank(const std::filesystem::path& path, const OpenOptions& options);

/// Decides which ranks the captures of a job are of, by the first source that states a number: the
/// trace of torch.profiler itself, profiler_info, the name of the database, RANK_DEVICE_MAP,
/// host/info.json, process groups that list their members, the names of the file and its folder,
/// the number in the communication group that all captures share. Those of which none does get a
/// label by their folder, which no other capture has. So no rank is -1 afterwards, and two captures
/// have the same one only where they state the same number.
void NameRanks(std::span<RankInput> inputs);

/// The captures of all ranks below `path` (at most three levels down), ordered by path; only one if
/// `path` itself is a capture. Captures that cannot be read are listed separately.
struct Discovery {
  std::vector<RankInput> ranks;
  struct Unusable {
    RankInput rank;      ///< what is known despite the problem
    std::string reason;  ///< may name the path, or the file in it that is broken

    /// The reason, with the path in front.
    std::string Text() const;
  };
  std::vector<Unusable> unusable;
  /// Records of servers' requests, of an instance each. They are no ranks: only who asks for them
  /// gets them.
  std::vector<RankInput> servers;
};
/// Reads what OpenRank() reads, and throws when `path` does not exist. Problems of single captures
/// are in the result and not logged. NameRanks() is left to the caller.
Discovery Discover(const std::filesystem::path& path, const OpenOptions& options);

/// The profiler_info.json or profiler_info_<rank>.json in a directory; the first of several.
std::optional<std::filesystem::path> FindProfilerInfo(const std::filesystem::path& directory);

}  // namespace mpa
