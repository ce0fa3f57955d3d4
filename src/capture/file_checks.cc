// SPDX-License-Identifier: Apache-2.0
// The checks every input passes.
#include "file_checks.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/log.h"
#include "scan_rank.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// The reason why a file is doubtful; null if there is none.
const char* Doubt(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return nullptr;
  if (status.st_uid != geteuid()) return "belongs to another user";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "can be written by other users";
  return nullptr;
}

// The target of a link that leads out of the capture; empty for paths within it.
fs::path Outside(const RankInput& rank, const fs::path& path) {
  const fs::path capture = CaptureDirectory(rank.path);
  std::error_code error;
  fs::path target = fs::canonical(path, error);
  const bool within =
      error || IsWithin(target, IsWithin(path, capture) ? capture : path.parent_path());
  return within ? fs::path() : target;
}

// `outside` is the result of Outside().
void RefuseOutside(const fs::path& path, const fs::path& outside) {
  if (outside.empty()) return;
  Fail(ErrorKind::kInput, "{}: leads out of the capture, to {}; --force follows such links",
       path.string(), outside.string());
}

// The files of the framework's profiler next to the records.
std::vector<fs::path> Documents(const fs::path& capture) {
  std::vector<fs::path> documents = Entries(capture);
  std::erase_if(documents, [](const fs::path& path) {
    return path.extension() != ".json" || !path.filename().string().starts_with("profiler_");
  });
  return documents;
}

}  // namespace

void CheckReadable(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    Fail(ErrorKind::kInput, "{}: {}; check the path", path.string(), std::strerror(errno));
  }
  const int wanted = S_ISDIR(status.st_mode) ? R_OK | X_OK : R_OK;
  if (access(path.c_str(), wanted) != 0) {
    Fail(ErrorKind::kInput, "{}: {}; check its permissions", path.string(), std::strerror(errno));
  }
}

bool IsWithin(const fs::path& path, const fs::path& directory) {
  return std::mismatch(directory.begin(), directory.end(), path.begin(), path.end()).first ==
         directory.end();
}

bool IsMain(FileKind kind) {
  return kind == FileKind::kTraceView || kind == FileKind::kKinetoTrace ||
         kind == FileKind::kNpuKinetoTrace || kind == FileKind::kProfilerDb ||
         kind == FileKind::kRawCapture;
}

void CheckFollowed(const CaptureFile& file) { RefuseOutside(file.path, file.outside); }

void CheckWithin(const RankInput& rank, const fs::path& path) {
  if (!rank.follow_links) RefuseOutside(path, Outside(rank, path));
}

void MarkLinksOut(RankInput& rank) {
  if (rank.info) {
    try {
      CheckWithin(rank, rank.info->path);
    } catch (const Error& error) {
      rank.info_problem = error.what();
      rank.host_rank = NumberInName(rank.info->path);
      rank.info.reset();
    }
  }
  for (CaptureFile& file : rank.files) {
    file.outside = Outside(rank, file.path);
    const auto mark = [&](const fs::path& path) {
      if (file.outside.empty()) file.outside = Outside(rank, path);
    };
    for (const fs::path& slice : file.slices) mark(slice);
    if (file.kind == FileKind::kRawCapture) {
      for (const fs::path& path : Documents(file.path)) mark(path);
      for (const RawDirectory& directory : FindRawData(file.path)) {
        for (const fs::path& path : directory.files) mark(path);
      }
    }
    if (IsMain(file.kind)) CheckFollowed(file);
  }
}

void WarnIfForeign(const RankInput& rank) {
  if (geteuid() == 0) return;
  for (const CaptureFile& file : rank.files) {
    if (const char* doubt = Doubt(file.path)) {
      LogWarning("{} {}; use --force to read the capture without this warning", file.path.string(),
                 Translated(doubt));
      return;
    }
  }
}

}  // namespace mpa
