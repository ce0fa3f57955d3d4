// SPDX-License-Identifier: Apache-2.0
// Records of calls into the operating system and of locks, which other tools than the profiler
// leave in or beside a capture.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/error.h"
#include "mpa/base/text.h"
#include "scan_rank.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTableBegins = "msosrt_trace_", kLogBegins = "GIL_";
/// Behind the name of a log, where gil_tracer made it ready for a viewer.
constexpr std::string_view kConverted = "_trace";

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// What stands behind the beginning, up to the next underscore.
std::string ProcessOf(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::size_t begin = (IsLockTrace(path) ? kLogBegins : kTableBegins).size();
  return name.substr(begin, name.find('_', begin) - begin);
}

// "node1_4711_20260101_ascend_pt", "node1_4711.1720000000.pt.trace.json".
bool NamesProcess(const fs::path& capture, std::string_view process) {
  std::string name = capture.filename().string();
  std::ranges::replace(name, '.', '_');
  const std::vector<std::string_view> parts = Split(name, '_');
  return std::ranges::find(parts, process) != parts.end();
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
  return end != std::string_view::npos && IsNumber(rest.substr(0, end));
}

void AddHostWaitFiles(RankInput& rank) {
  const fs::path capture = CaptureDirectory(rank.path);
  // A single file in a folder of arbitrary files has no related files there but by their names.
  const bool is_alone = !IsDirectory(rank.path) && capture == rank.path.parent_path();
  std::vector<fs::path> found;
  const auto look = [&](const fs::path& directory, auto belongs) {
    if (!IsDirectory(directory)) return;
    try {
      for (const fs::path& entry : Entries(directory)) {
        if ((IsSystemCallTable(entry) || IsLockTrace(entry)) && belongs(entry))
          found.push_back(entry);
      }
    } catch (const Error&) {
      return;  // unreadable: the capture itself is not there
    }
  };
  const fs::path& named = is_alone ? rank.path : capture;
  look(named.parent_path(),
       [&](const fs::path& file) { return NamesProcess(named, ProcessOf(file)); });
  if (!is_alone) {
    for (const fs::path& directory : {capture, capture / kOutputDirectory, capture / kMsprofOutput})
      look(directory, [](const fs::path&) { return true; });
  }
  DropConverted(found);
  for (const fs::path& file : found)
    AddFile(rank, IsLockTrace(file) ? FileKind::kLockTrace : FileKind::kSystemCalls, file);
}

}  // namespace mpa
