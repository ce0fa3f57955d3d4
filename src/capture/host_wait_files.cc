// SPDX-License-Identifier: Apache-2.0
// Records of calls into the operating system, of locks and of functions, which other tools than
// the profiler leave in or beside a capture.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "scan_rank.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTableBegins = "msosrt_trace_", kLogBegins = "GIL_",
                           kFunctionsBegin = "function_monitor_";
/// Behind the name of a log, where gil_tracer made it ready for a viewer.
constexpr std::string_view kConverted = "_trace";

bool IsOfDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

FileKind KindOf(const fs::path& path) {
  if (IsFunctionLog(path)) return FileKind::kFunctionLog;
  return IsLockTrace(path) ? FileKind::kLockTrace : FileKind::kSystemCalls;
}

// What stands behind the beginning, up to the next underscore or dot.
std::string ProcessOf(const fs::path& path) {
  const FileKind kind = KindOf(path);
  const std::string_view begins = kind == FileKind::kFunctionLog ? kFunctionsBegin
                                  : kind == FileKind::kLockTrace ? kLogBegins
                                                                 : kTableBegins;
  const std::string name = path.filename().string();
  return name.substr(begins.size(), name.find_first_of("_.", begins.size()) - begins.size());
}

// "node1_4711_20260101_ascend_pt", "node1_4711.1720000000.pt.trace.json": the parts of a name, one
// of which is the process.
std::vector<std::string> PartsOf(const fs::path& capture) {
  std::string name = capture.filename().string();
  std::ranges::replace(name, '.', '_');
  std::vector<std::string> parts;
  for (const std::string_view part : Split(name, '_')) parts.emplace_back(part);
  return parts;
}

// The log itself says all that is in what was made of it.
void DropConverted(std::vector<fs::path>& files) {
  const std::vector<fs::path> all = files;
  std::erase_if(files, [&](const fs::path& file) {
    const std::string stem = file.stem().string();
    if (!IsLockTrace(file) || !stem.ends_with(kConverted)) return false;
    const std::string log = stem.substr(0, stem.size() - kConverted.size()) + ".json";
    return std::ranges::find(all, file.parent_path() / log) != all.end();
  });
}

}  // namespace

bool IsSystemCallTable(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(kTableBegins) && name.ends_with(".csv");
}

bool IsLockTrace(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kLogBegins) || !name.ends_with(".json")) return false;
  const std::string_view rest = std::string_view(name).substr(kLogBegins.size());
  const std::size_t end = rest.find("_rank_");
  return end != std::string_view::npos && IsOfDigits(rest.substr(0, end));
}

bool IsFunctionLog(const fs::path& path) {
  const std::string name = path.filename().string();
  constexpr std::string_view kEnd = ".log";
  if (!name.starts_with(kFunctionsBegin) || !name.ends_with(kEnd)) return false;
  std::string_view process = name;
  process.remove_prefix(kFunctionsBegin.size());
  process.remove_suffix(std::min(kEnd.size(), process.size()));
  return IsOfDigits(process);
}

namespace {

bool IsWaitFile(const fs::path& path) {
  return IsSystemCallTable(path) || IsLockTrace(path) || IsFunctionLog(path);
}

// Empty for a directory that may not be read: the capture itself says so.
std::vector<fs::path> WaitFilesIn(const fs::path& directory) {
  std::vector<fs::path> found;
  if (!IsDirectory(directory)) return found;
  try {
    found = Entries(directory);
  } catch (const Error&) {
    return {};
  }
  std::erase_if(found, [](const fs::path& entry) { return !IsWaitFile(entry); });
  return found;
}

void AddAll(std::vector<fs::path> files, RankInput& rank) {
  DropConverted(files);
  // Of a directory that holds one capture, and was looked at as such, they are known already.
  std::erase_if(files, [&](const fs::path& file) {
    return std::ranges::find(rank.files, file, &CaptureFile::path) != rank.files.end();
  });
  for (const fs::path& file : files) AddFile(rank, KindOf(file), file);
}

// A single file in a folder of arbitrary files, of which none is its own but by its name.
bool IsAlone(const RankInput& rank) {
  return !IsDirectory(rank.path) && CaptureDirectory(rank.path) == rank.path.parent_path();
}

}  // namespace

void AddHostWaitFiles(RankInput& rank) {
  if (IsAlone(rank)) return;
  const fs::path capture = CaptureDirectory(rank.path);
  std::vector<fs::path> found;
  for (const fs::path& directory : {capture, capture / kOutputDirectory, capture / kMsprofOutput}) {
    for (fs::path& file : WaitFilesIn(directory)) found.push_back(std::move(file));
  }
  AddAll(std::move(found), rank);
}

void AddHostWaitFilesBeside(std::span<RankInput> ranks) {
  // A directory may hold thousands of captures.
  std::map<fs::path, std::multimap<std::string, fs::path, std::less<>>> by_process;
  for (RankInput& rank : ranks) {
    const fs::path named = IsAlone(rank) ? rank.path : CaptureDirectory(rank.path);
    const auto [beside, is_new] = by_process.try_emplace(named.parent_path());
    if (is_new) {
      for (const fs::path& file : WaitFilesIn(named.parent_path())) {
        std::error_code error;
        // A link may lead anywhere.
        if (fs::is_symlink(file, error) || error) continue;
        beside->second.emplace(ProcessOf(file), file);
      }
    }
    std::vector<fs::path> found;
    for (const std::string& part : PartsOf(named)) {
      const auto [first, last] = beside->second.equal_range(part);
      for (auto file = first; file != last; ++file) found.push_back(file->second);
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    AddAll(std::move(found), rank);
  }
}

}  // namespace mpa
