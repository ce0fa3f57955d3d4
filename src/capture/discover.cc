// SPDX-License-Identifier: Apache-2.0
// Finds captures below a directory.
#include <algorithm>
#include <system_error>

#include "file_checks.h"
#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "mpa/base/text.h"
#include "mpa/capture/capture.h"
#include "mpa/io/input_text.h"
#include "scan_rank.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

bool LooksLikeCapture(const fs::path& directory) {
  const std::string name = directory.filename().string();
  constexpr std::string_view kMsprof = "PROF_";
  const bool msprof = name.starts_with(kMsprof) && name.size() > kMsprof.size() &&
                      name[kMsprof.size()] >= '0' && name[kMsprof.size()] <= '9';
  return msprof || name.ends_with("_ascend_pt") || name.ends_with("_ascend_ms") ||
         name == kOutputDirectory || IsDirectory(directory / kOutputDirectory);
}

// A trace file that lies among others: any JSON may be in a directory, so the first bytes decide.
bool IsLooseGpuTrace(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.ends_with(".pt.trace.json") || name.ends_with(".pt.trace.json.gz")) return true;
  if (!name.ends_with(".json") && !name.ends_with(".json.gz")) return false;
  try {
    const std::string start = io::ReadStart(path, 4096);
    return Trim(start).starts_with("{") &&
           ContainsAny(start, {"\"traceEvents\"", "\"deviceProperties\""});
  } catch (const Error&) {
    return false;  // unreadable, so nothing says that it is a trace
  }
}

void AddUnreadable(const fs::path& path, const Error& error, Discovery& found) {
  Discovery::Unusable unusable{{}, error.what()};
  unusable.rank.path = path;
  found.unusable.push_back(std::move(unusable));
}

void Add(const fs::path& path, const OpenOptions& options, Discovery& found) {
  try {
    ScannedRank scanned = ScanRank(path, options.raw);
    if (scanned.problem.empty()) {
      if (!options.force) WarnIfForeign(scanned.rank);
      found.ranks.push_back(std::move(scanned.rank));
    } else {
      found.unusable.push_back({std::move(scanned.rank), std::move(scanned.problem)});
    }
  } catch (const Error& error) {
    AddUnreadable(path, error, found);
  }
}

void Walk(const fs::path& directory, int levels, const OpenOptions& options, Discovery& found) {
  try {
    for (const fs::path& entry : Entries(directory)) {
      std::error_code ignored;
      if (fs::is_symlink(entry, ignored)) continue;
      if (!IsDirectory(entry)) {
        const bool file = fs::is_regular_file(entry, ignored);
        if (file && (IsProfilerDb(entry) || IsLooseGpuTrace(entry))) Add(entry, options, found);
      } else if (LooksLikeCapture(entry)) {
        Add(entry, options, found);
      } else if (levels > 1) {
        Walk(entry, levels - 1, options, found);
      }
    }
  } catch (const Error& error) {
    AddUnreadable(directory, error, found);
  }
}

// Absolute and without symbolic links; throws for a path that does not exist.
fs::path Resolve(const fs::path& path) {
  CheckReadable(path);
  return fs::canonical(path);
}

}  // namespace

const CaptureFile* RankInput::Find(FileKind file_kind) const {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const CaptureFile& file) { return file.kind == file_kind; });
  return found == files.end() ? nullptr : &*found;
}

RankInput OpenRank(const fs::path& path, const OpenOptions& options) {
  const fs::path resolved = Resolve(path);
  ScannedRank scanned = ScanRank(resolved, options.raw);
  if (!scanned.problem.empty()) {
    Fail(ErrorKind::kInput, "{}: {}", resolved.string(), scanned.problem);
  }
  const RankInput& rank = scanned.rank;
  if (!options.force) WarnIfForeign(rank);
  if (!rank.info_problem.empty()) {
    LogWarning("{}; the collection settings stay unknown", rank.info_problem);
  }
  for (const fs::path& unread : rank.unread_databases) {
    LogWarning("{}: several databases; reading {} and not {}", unread.parent_path().string(),
               rank.files.front().path.filename().string(), unread.filename().string());
  }
  return std::move(scanned.rank);
}

Discovery Discover(const fs::path& path, const OpenOptions& options) {
  const fs::path resolved = Resolve(path);
  Discovery found;
  const bool single = !fs::is_directory(resolved) || LooksLikeCapture(resolved);
  if (!single) Walk(resolved, 3, options, found);
  if (single || (found.ranks.empty() && found.unusable.empty())) Add(resolved, options, found);
  return found;
}

}  // namespace mpa
