// SPDX-License-Identifier: Apache-2.0
// Finds captures and tells their files apart by name.
#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "file_checks.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/text.h"
#include "mpa/capture/capture.h"
#include "mpa/io/input_text.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOutputDirectory = "ASCEND_PROFILER_OUTPUT";

constexpr std::array<std::string_view, 4> kDbPrefixes = {
    "ascend_pytorch_profiler", "ascend_mindspore_profiler", "msmonitor", "msprof_"};

struct NamedKind {
  std::string_view name;
  FileKind kind;
};
constexpr std::array<NamedKind, 7> kOutputFiles = {{
    {"trace_view.json", FileKind::kTraceView},
    {"kernel_details.csv", FileKind::kKernelDetails},
    {"operator_memory.csv", FileKind::kOperatorMemory},
    {"memory_record.csv", FileKind::kMemoryRecord},
    {"op_statistic.csv", FileKind::kOpStatistic},
    {"communication.json", FileKind::kCommunication},
    {"step_trace_time.csv", FileKind::kStepTraceTime},
}};

bool IsProfilerDb(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".db") &&
         std::any_of(kDbPrefixes.begin(), kDbPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// profiler_info.json or profiler_info_<digits>.json.
bool IsProfilerInfo(const fs::path& path) {
  const std::string file_name = path.filename().string();
  const std::string_view name = file_name;
  constexpr std::string_view kStem = "profiler_info";
  constexpr std::string_view kEnd = ".json";
  if (!name.starts_with(kStem) || !name.ends_with(kEnd)) return false;
  const std::string_view middle = name.substr(kStem.size(), name.size() - kStem.size() - kEnd.size());
  return middle.empty() ||
         (middle.size() > 1 && middle[0] == '_' &&
          middle.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

// The entries of a directory in name order, so that nothing depends on the file system.
std::vector<fs::path> Entries(const fs::path& directory) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) entries.push_back(entry.path());
  if (error) Fail(ErrorKind::kInput, "{}: {}", directory.string(), error.message());
  std::sort(entries.begin(), entries.end());
  return entries;
}

void AddFile(RankInput& rank, FileKind kind, const fs::path& path, bool force) {
  CheckInput(path, force);
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  rank.files.push_back({kind, path, error ? 0 : static_cast<std::int64_t>(bytes)});
}

// A GPU trace is an object, an NPU trace an array.
bool StartsWithObject(const fs::path& path) {
  const std::string start = io::ReadStart(path, 4096);
  const std::string_view text = Trim(start.starts_with("\xEF\xBB\xBF")
                                         ? std::string_view(start).substr(3)
                                         : std::string_view(start));
  if (text.empty()) Fail(ErrorKind::kInput, "{}: the file is empty", path.string());
  if (text[0] != '{' && text[0] != '[') {
    Fail(ErrorKind::kCorrupt, "{}: not JSON: it begins with neither '[' nor '{{'", path.string());
  }
  return text[0] == '{';
}

RankInput OpenFile(const fs::path& path, bool force) {
  RankInput rank;
  rank.path = path;
  const std::string name = path.filename().string();
  if (name.ends_with(".json") || name.ends_with(".json.gz")) {
    const bool gpu = StartsWithObject(path);
    rank.kind = gpu ? CaptureKind::kGpu : CaptureKind::kNpuText;
    AddFile(rank, gpu ? FileKind::kKinetoTrace : FileKind::kTraceView, path, force);
    return rank;
  }
  if (IsProfilerDb(path)) {
    rank.kind = CaptureKind::kNpuDb;
    AddFile(rank, FileKind::kProfilerDb, path, force);
    return rank;
  }
  Fail(ErrorKind::kInput,
       "{}: not a capture; give a trace (.json, .json.gz), a profiler database "
       "(ascend_pytorch_profiler*.db, ascend_mindspore_profiler*.db, msmonitor*.db, msprof_*.db) or "
       "a capture directory",
       path.string());
}

void ReadInfo(RankInput& rank, const std::vector<fs::path>& entries) {
  const auto found = std::find_if(entries.begin(), entries.end(), IsProfilerInfo);
  if (found == entries.end()) return;
  try {
    rank.info = ReadProfilerInfo(*found);
  } catch (const Error& error) {
    LogWarning("{}; the collection settings stay unknown", error.what());
  }
}

// The database to read of several: the first in name order.
const fs::path* ChooseDb(const std::vector<fs::path>& entries) {
  const fs::path* chosen = nullptr;
  for (const fs::path& entry : entries) {
    if (!IsProfilerDb(entry)) continue;
    if (chosen == nullptr) {
      chosen = &entry;
    } else {
      LogWarning("{}: several databases; reading {} and not {}", entry.parent_path().string(),
                 chosen->filename().string(), entry.filename().string());
    }
  }
  return chosen;
}

RankInput OpenDirectory(const fs::path& path, bool force) {
  RankInput rank;
  rank.path = path;
  const std::vector<fs::path> entries = Entries(path);
  ReadInfo(rank, entries);
  const bool has_output = fs::is_directory(path / kOutputDirectory);
  const fs::path output = has_output ? path / kOutputDirectory : path;
  const std::vector<fs::path> outputs = has_output ? Entries(output) : entries;
  if (const fs::path* database = ChooseDb(outputs)) {
    rank.kind = CaptureKind::kNpuDb;
    AddFile(rank, FileKind::kProfilerDb, *database, force);
    return rank;
  }
  rank.kind = CaptureKind::kNpuText;
  for (const NamedKind& named : kOutputFiles) {
    if (fs::exists(output / named.name)) AddFile(rank, named.kind, output / named.name, force);
  }
  if (rank.Find(FileKind::kTraceView) == nullptr && fs::exists(output / "trace_view.json.gz")) {
    AddFile(rank, FileKind::kTraceView, output / "trace_view.json.gz", force);
  }
  if (fs::exists(path / "profiler_metadata.json")) {
    AddFile(rank, FileKind::kProfilerMetadata, path / "profiler_metadata.json", force);
  }
  if (rank.Find(FileKind::kTraceView) == nullptr) {
    const bool raw = std::any_of(entries.begin(), entries.end(), [](const fs::path& entry) {
      return entry.filename().string().starts_with("PROF_");
    });
    Fail(ErrorKind::kInput, "{}: no profiler database and no trace_view.json there; {}",
         path.string(),
         raw ? "the capture was not parsed yet: run torch_npu.profiler.profiler.analyse() on it"
             : "give the *_ascend_pt or *_ascend_ms directory of one rank");
  }
  return rank;
}

bool LooksLikeCapture(const fs::path& directory) {
  const std::string name = directory.filename().string();
  return name.ends_with("_ascend_pt") || name.ends_with("_ascend_ms") || name == kOutputDirectory ||
         fs::is_directory(directory / kOutputDirectory);
}

void Walk(const fs::path& directory, int levels, bool force, Discovery& found) {
  for (const fs::path& entry : Entries(directory)) {
    if (!fs::is_directory(entry) || fs::is_symlink(entry)) continue;
    if (LooksLikeCapture(entry)) {
      try {
        found.ranks.push_back(OpenDirectory(entry, force));
      } catch (const Error& error) {
        found.unusable.push_back({entry, error.what()});
      }
    } else if (levels > 1) {
      Walk(entry, levels - 1, force, found);
    }
  }
}

// Absolute and without symbolic links; throws for a path that does not exist.
fs::path Resolve(const fs::path& path, bool force) {
  CheckInput(path, force);
  return fs::canonical(path);
}

}  // namespace

const CaptureFile* RankInput::Find(FileKind file_kind) const {
  const auto found = std::find_if(files.begin(), files.end(), [&](const CaptureFile& file) {
    return file.kind == file_kind;
  });
  return found == files.end() ? nullptr : &*found;
}

RankInput OpenRank(const fs::path& path, bool force) {
  const fs::path resolved = Resolve(path, force);
  return fs::is_directory(resolved) ? OpenDirectory(resolved, force) : OpenFile(resolved, force);
}

Discovery Discover(const fs::path& path, bool force) {
  const fs::path resolved = Resolve(path, force);
  Discovery found;
  const bool single = !fs::is_directory(resolved) || LooksLikeCapture(resolved);
  if (!single) Walk(resolved, 3, force, found);
  if (single || (found.ranks.empty() && found.unusable.empty())) {
    try {
      found.ranks.push_back(OpenRank(resolved, force));
    } catch (const Error& error) {
      found.unusable.push_back({resolved, error.what()});
    }
  }
  return found;
}

}  // namespace mpa
