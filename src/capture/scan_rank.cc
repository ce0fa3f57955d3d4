// SPDX-License-Identifier: Apache-2.0
// Determines the contents of a directory or file from the names of the files.
#include "scan_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <system_error>
#include <utility>

#include "file_checks.h"
#include "mpa/base/ending.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/io/input_text.h"

namespace mpa {

bool IsArchive(const std::filesystem::path& path) {
  constexpr std::string_view kEndings[] = {".tar", ".tgz", ".gz",  ".zip", ".bz2",
                                           ".xz",  ".zst", ".rar", ".7z"};
  const std::string name = ToLower(path.filename().string());
  const auto ends_with = [&](std::string_view ending) { return name.ends_with(ending); };
  constexpr std::string_view kRead[] = {".json.gz", ".pkl.gz", ".pickle.gz"};
  return std::ranges::none_of(kRead, ends_with) && std::ranges::any_of(kEndings, ends_with);
}

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kDbPrefixes = {
    "ascend_pytorch_profiler", "ascend_mindspore_profiler", "msmonitor", "msprof_"};

struct NamedKind {
  std::string_view name;
  FileKind kind;
};
constexpr std::array<NamedKind, 10> kOutputFiles = {{
    {"trace_view.json", FileKind::kTraceView},
    {"kernel_details.csv", FileKind::kKernelDetails},
    {"operator_memory.csv", FileKind::kOperatorMemory},
    {"memory_record.csv", FileKind::kMemoryRecord},
    {"op_statistic.csv", FileKind::kOpStatistic},
    {"l2_cache.csv", FileKind::kL2Cache},
    {"communication.json", FileKind::kCommunication},
    {"communication_matrix.json", FileKind::kCommMatrix},
    {"step_trace_time.csv", FileKind::kStepTraceTime},
    {"npu_module_mem.csv", FileKind::kHardwareTable},
}};

// profiler_info.json or profiler_info_<digits>.json.
bool IsProfilerInfo(const fs::path& path) {
  const std::string file_name = path.filename().string();
  const std::string_view name = file_name;
  constexpr std::string_view kStem = "profiler_info";
  constexpr std::string_view kEnd = ".json";
  if (!name.starts_with(kStem) || !name.ends_with(kEnd)) return false;
  if (name.size() < kStem.size() + kEnd.size()) return false;
  const std::string_view middle =
      name.substr(kStem.size(), name.size() - kStem.size() - kEnd.size());
  return middle.empty() || (middle.size() > 1 && middle[0] == '_' &&
                            middle.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

// True also for a path that cannot be examined (a loop of links): the error is reported when it is
// opened.
bool IsThere(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) || error;
}

// info.json.<digits>.
bool IsDeviceInfo(const fs::path& path) {
  const std::string name = path.filename().string();
  constexpr std::string_view kStem = "info.json.";
  return name.starts_with(kStem) && name.size() > kStem.size() &&
         name.find_first_not_of("0123456789", kStem.size()) == std::string::npos;
}

// The descriptions of the devices. Unreadable ones are left out: few analyses need them, and those
// report a missing one.
void AddDeviceInfos(RankInput& rank) {
  // A single file in a folder of arbitrary files has no related files there.
  if (!fs::is_directory(rank.path) && CaptureDirectory(rank.path) == rank.path.parent_path()) {
    return;
  }
  try {
    for (const fs::path& msprof : MsprofDirectories(CaptureDirectory(rank.path))) {
      for (const fs::path& device : Entries(msprof)) {
        if (!device.filename().string().starts_with("device_")) continue;
        for (const fs::path& entry : Entries(device)) {
          if (!IsDeviceInfo(entry)) continue;
          std::error_code error;
          if (fs::exists(entry, error)) AddFile(rank, FileKind::kDeviceInfo, entry);
        }
      }
    }
  } catch (const Error&) {
    return;
  }
}

// Files of PyTorch that are not profiles; null for others.
const char* ProblemOfKind(const fs::path& path) {
  const std::string name = path.filename().string();
  if (IsLockTrace(path) || IsSystemCallTable(path) || IsFunctionLog(path)) {
    return "calls, locks or functions of a process, which are read beside a capture of it; give"
           " the capture"
           " that they lie beside or in";
  }
  if (name.ends_with(".pickle") || name.ends_with(".pkl")) {
    return "not a memory snapshot of PyTorch; give a pickle that _dump_snapshot() of torch or"
           " torch_npu wrote, a trace or a capture directory";
  }
  if (!name.ends_with(".json")) return nullptr;
  constexpr std::size_t kBeginning = 4096;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return nullptr;
  const std::string start = io::ReadStart(path, kBeginning);
  const bool is_trace = ContainsAny(start, {"\"traceEvents\"", "\"ph\"", "\"schemaVersion\""});
  if (is_trace || !ContainsAny(start, {"\"schema\""}) ||
      !ContainsAny(start, {"\"nodes\"", "\"start_ts\"", "\"pid\""})) {
    return nullptr;
  }
  return "an execution trace of PyTorch, which has no times of the device; give the profiler's"
         " trace or a capture directory";
}

// The events say which profiler wrote the trace; where they do not, a GPU trace is an object, an
// NPU trace an array. Returns what is wrong with it; empty for a trace of PyTorch.
std::string AddTrace(RankInput& rank, const fs::path& path) {
  const TraceLook look = LookAtTrace(path);
  if (!look.writer.empty()) {
    return Say(
        "a trace of {}, which is not read: no event is of a kind that PyTorch's profiler writes;"
        " open it at ui.perfetto.dev, and give a trace of torch.profiler or torch_npu.profiler",
        look.writer);
  }
  if (!look.is_kineto.value_or(!look.is_array)) {
    rank.kind = CaptureKind::kNpuText;
    AddFile(rank, FileKind::kTraceView, path);
  } else if (look.is_of_npu) {
    rank.kind = CaptureKind::kNpuKineto;
    AddFile(rank, FileKind::kNpuKinetoTrace, path);
  } else {
    rank.kind = CaptureKind::kGpu;
    AddFile(rank, FileKind::kKinetoTrace, path);
  }
  return "";
}

// Rates of a cache belong to kernels of another table, counters are of work that others tell.
bool TellsAlone(FileKind kind) {
  return kind != FileKind::kL2Cache && kind != FileKind::kHardwareTable;
}

// Of a table that was given without its capture.
std::optional<FileKind> KindOfTable(const std::string& name) {
  for (const NamedKind& named : kOutputFiles) {
    const bool tells_alone = named.kind != FileKind::kTraceView && TellsAlone(named.kind);
    if (named.name == name && tells_alone) return named.kind;
  }
  return KindOfMsprofTable(name);
}

ScannedRank ScanFile(const fs::path& path) {
  RankInput rank;
  rank.path = path;
  const std::string name = path.filename().string();
  if (const std::optional<FileKind> table = KindOfTable(name)) {
    rank.kind = CaptureKind::kNpuText;
    CheckReadable(path);
    AddFile(rank, *table, path);
    return {std::move(rank), ""};
  }
  // Other forms are told by their names, and need no look into the file.
  std::error_code ignored;
  const bool is_named = name.ends_with(".json") || name.ends_with(".json.gz") || IsProfilerDb(path);
  if (!is_named && fs::is_regular_file(path, ignored) && HoldsMemorySnapshot(path)) {
    rank.kind = CaptureKind::kSnapshot;
    CheckReadable(path);
    AddFile(rank, FileKind::kMemorySnapshot, path);
    return {std::move(rank), ""};
  }
  if (const char* problem = ProblemOfKind(path))
    return {std::move(rank), std::string(Translated(problem))};
  if (name.ends_with(".json") || name.ends_with(".json.gz")) {
    std::string problem = AddTrace(rank, path);
    return {std::move(rank), std::move(problem)};
  }
  if (IsProfilerDb(path)) {
    rank.kind = CaptureKind::kNpuDb;
    AddFile(rank, FileKind::kProfilerDb, path);
    return {std::move(rank), ""};
  }
  if (IsArchive(path)) return {std::move(rank), std::string(Translated(kArchiveProblem))};
  return {std::move(rank), Say("not a capture; give a trace (.json, .json.gz), a profiler database"
                               " (ascend_pytorch_profiler*.db, ascend_mindspore_profiler*.db,"
                               " msmonitor*.db, msprof_*.db)"
                               " or a capture directory")};
}

void ReadInfo(RankInput& rank) {
  const auto path = FindProfilerInfo(CaptureDirectory(rank.path));
  if (!path) return;
  try {
    rank.info = ReadProfilerInfo(*path);
  } catch (const Error& error) {
    rank.info_problem = error.what();
    rank.host_rank = NumberInName(*path);
  }
}

// The first database in name order is read.
void AddDatabases(RankInput& rank, const std::vector<fs::path>& outputs) {
  for (const fs::path& entry : outputs) {
    if (!IsProfilerDb(entry)) continue;
    if (rank.kind == CaptureKind::kNpuDb) {
      rank.unread_databases.push_back(entry);
    } else {
      rank.kind = CaptureKind::kNpuDb;
      AddFile(rank, FileKind::kProfilerDb, entry);
    }
  }
  if (rank.kind != CaptureKind::kNpuDb) return;
  for (const fs::path& entry : outputs) {
    const std::string name = entry.filename().string();
    if (name == "analysis.db" || name == "communication_analyzer.db") {
      AddFile(rank, FileKind::kAnalysisDb, entry);
    }
  }
}

void AddTextFiles(RankInput& rank, const fs::path& output) {
  for (const NamedKind& named : kOutputFiles) {
    if (IsThere(output / named.name)) AddFile(rank, named.kind, output / named.name);
  }
  if (rank.Find(FileKind::kTraceView) == nullptr && IsThere(output / "trace_view.json.gz")) {
    AddFile(rank, FileKind::kTraceView, output / "trace_view.json.gz");
  }
  if (rank.Find(FileKind::kTraceView) != nullptr) rank.kind = CaptureKind::kNpuText;
}

// People leave traces and databases behind, which are large: the tables alone are a capture, too.
bool AddTablesAlone(RankInput& rank, const fs::path& output) {
  const bool has_sums = rank.Find(FileKind::kCommunication) != nullptr ||
                        rank.Find(FileKind::kStepTraceTime) != nullptr;
  for (const char* name : {"analysis.db", "communication_analyzer.db"}) {
    if (!has_sums && IsThere(output / name)) AddFile(rank, FileKind::kAnalysisDb, output / name);
  }
  const bool any_tells_alone = std::ranges::any_of(
      rank.files, [](const CaptureFile& file) { return TellsAlone(file.kind); });
  if (!any_tells_alone) return false;
  rank.kind = CaptureKind::kNpuText;
  return true;
}

void AddMetadata(RankInput& rank, const fs::path& directory) {
  const fs::path metadata = directory / "profiler_metadata.json";
  if (IsThere(metadata)) AddFile(rank, FileKind::kProfilerMetadata, metadata);
}

// The contents of PROF_* directories: records of the host and of devices.
bool HoldsDriverData(const fs::path& directory) {
  if (IsDirectory(directory / "host" / "data")) return true;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (!entry.path().filename().string().starts_with("device_")) continue;
    if (IsDirectory(entry.path() / "data")) return true;
  }
  return false;
}

// The records of the profiler itself; true if there are any.
bool AddRawData(RankInput& rank) {
  const fs::path capture = CaptureDirectory(rank.path);
  const std::vector<RawDirectory> data = FindRawData(capture);
  if (data.empty()) return false;
  for (const RawDirectory& directory : data) {
    for (const fs::path& file : directory.files) CheckReadable(file);
  }
  rank.kind = CaptureKind::kNpuRaw;
  rank.msprof.reset();
  rank.files = {{FileKind::kRawCapture, capture, TotalBytes(data)}};
  AddMetadata(rank, capture);
  return true;
}

ScannedRank ScanDirectory(const fs::path& path, bool raw) {
  RankInput rank;
  rank.path = path;
  ReadInfo(rank);
  if (raw) {
    if (AddRawData(rank)) return {std::move(rank), ""};
    return {std::move(rank), Say("no raw data (PROF_* and FRAMEWORK directories with records);"
                                 " give the directory that the"
                                 " profiler wrote")};
  }
  const fs::path output = path / kOutputDirectory;
  const bool has_output = IsDirectory(output);
  AddDatabases(rank, Entries(has_output ? output : path));
  if (rank.kind == CaptureKind::kNpuDb) {
    AddMetadata(rank, path);
    return {std::move(rank), ""};
  }
  AddTextFiles(rank, has_output ? output : path);
  if (rank.kind != CaptureKind::kNpuText && !has_output) AddMsprofOutput(path, rank);
  if (rank.kind == CaptureKind::kNpuText) {
    AddMetadata(rank, path);
    return {std::move(rank), ""};
  }
  std::vector<CaptureFile> tables = std::exchange(rank.files, {});
  if (AddRawData(rank)) return {std::move(rank), ""};
  rank.files = std::move(tables);
  if (AddTablesAlone(rank, has_output ? output : path)) {
    AddMetadata(rank, path);
    return {std::move(rank), ""};
  }
  if (path.filename().string().ends_with("_op_args")) {
    return {std::move(rank),
            Say("operators that record_op_args=True recorded for the tuning tool AOE, without any"
                " time; give the *_ascend_pt directory of a run that was profiled")};
  }
  return {std::move(rank),
          Say("no profiler database, no trace_view.json and no raw data; give the *_ascend_pt or"
              " *_ascend_ms directory of one rank")};
}

}  // namespace

void AddFile(RankInput& rank, FileKind kind, const fs::path& path) {
  if (IsMain(kind)) CheckReadable(path);
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  rank.files.push_back({kind, path, error ? 0 : static_cast<std::int64_t>(bytes)});
}

std::vector<fs::path> Entries(const fs::path& directory) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error))
    entries.push_back(entry.path());
  if (error == std::errc::not_enough_memory) EndForMemory();
  if (error) Fail(ErrorKind::kInput, "{}: {}", directory.string(), error.message());
  std::ranges::sort(entries);
  return entries;
}

bool IsDirectory(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool IsProfilerDb(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".db") && std::ranges::any_of(kDbPrefixes, [&](std::string_view prefix) {
           return name.starts_with(prefix);
         });
}

std::optional<fs::path> FindProfilerInfo(const fs::path& directory) {
  const std::vector<fs::path> entries = Entries(directory);
  const auto found = std::ranges::find_if(entries, IsProfilerInfo);
  return found == entries.end() ? std::nullopt : std::optional(*found);
}

fs::path CaptureDirectory(const fs::path& path) {
  const fs::path directory = IsDirectory(path) ? path : path.parent_path();
  const fs::path name = directory.filename();
  return name == kOutputDirectory || name == kMsprofOutput ? directory.parent_path() : directory;
}

std::vector<fs::path> MsprofDirectories(const fs::path& capture) {
  const auto is_named = [](const fs::path& path) {
    return path.filename().string().starts_with("PROF_");
  };
  if (is_named(capture) || HoldsDriverData(capture)) return {capture};
  std::vector<fs::path> found;
  for (const fs::path& entry : Entries(capture)) {
    if (is_named(entry) ? IsDirectory(entry) : HoldsDriverData(entry)) found.push_back(entry);
  }
  return found;
}

bool HoldsRawData(const fs::path& directory) {
  if (IsDirectory(directory / "FRAMEWORK") || HoldsDriverData(directory)) return true;
  try {
    // Without FRAMEWORK the settings say that it is one capture, not a directory with many.
    return FindProfilerInfo(directory) && !MsprofDirectories(directory).empty();
  } catch (const Error&) {
    return false;  // unreadable; the error is reported when it is opened
  }
}

ScannedRank ScanRank(const fs::path& path, const OpenOptions& options) {
  ScannedRank scanned = fs::is_directory(path) ? ScanDirectory(path, options.raw) : ScanFile(path);
  scanned.rank.follow_links = options.force;
  if (IsKineto(scanned.rank.kind)) AddGraphCaptures(scanned.rank, options.graph_capture);
  if (scanned.problem.empty() && !IsKineto(scanned.rank.kind)) {
    AddDeviceInfos(scanned.rank);
  }
  if (scanned.problem.empty()) AddHostWaitFiles(scanned.rank);
  if (scanned.problem.empty()) AddSchedulerTraces(scanned.rank);
  if (scanned.problem.empty() && IsDirectory(path)) AddMemorySnapshots(scanned.rank);
  return scanned;
}

}  // namespace mpa
