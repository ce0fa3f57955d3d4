// SPDX-License-Identifier: Apache-2.0
// The checks every input passes.
#include "file_checks.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/log.h"
#include "raw_data.h"
#include "scan_rank.h"

namespace mpa {
namespace {

namespace fs = std::filesystem;

// What makes a file doubtful; null when nothing does.
const char* Doubt(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return nullptr;
  if (status.st_uid != geteuid()) return "belongs to somebody else";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "may be written by others";
  return nullptr;
}

}  // namespace

void CheckReadable(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    Fail(ErrorKind::kInput, "{}: {}", path.string(), std::strerror(errno));
  }
  const int wanted = S_ISDIR(status.st_mode) ? R_OK | X_OK : R_OK;
  if (access(path.c_str(), wanted) != 0) {
    Fail(ErrorKind::kInput, "{}: {}", path.string(), std::strerror(errno));
  }
}

bool IsWithin(const fs::path& path, const fs::path& directory) {
  return std::mismatch(directory.begin(), directory.end(), path.begin(), path.end()).first ==
         directory.end();
}

bool IsMain(FileKind kind) {
  return kind == FileKind::kTraceView || kind == FileKind::kKinetoTrace ||
         kind == FileKind::kProfilerDb || kind == FileKind::kRawCapture;
}

void CheckFollowed(const CaptureFile& file) {
  if (file.outside.empty()) return;
  Fail(ErrorKind::kInput, "{}: leads out of the capture, to {}; --force follows such links",
       file.path.string(), file.outside.string());
}

void MarkLinksOut(RankInput& rank) {
  const fs::path capture = CaptureDirectory(rank.path);
  const auto mark = [&](CaptureFile& file, const fs::path& path) {
    std::error_code error;
    fs::path target = fs::canonical(path, error);
    if (!error && !IsWithin(target, capture)) file.outside = std::move(target);
  };
  if (rank.info) {
    CaptureFile settings{FileKind::kProfilerMetadata, rank.info->path};
    mark(settings, settings.path);
    try {
      CheckFollowed(settings);
    } catch (const Error& error) {
      rank.info_problem = error.what();
      rank.info.reset();
    }
  }
  for (CaptureFile& file : rank.files) {
    mark(file, file.path);
    if (file.kind == FileKind::kRawCapture) {
      for (const RawDirectory& directory : FindRawData(file.path)) {
        for (const fs::path& path : directory.files) mark(file, path);
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
                 doubt);
      return;
    }
  }
}

}  // namespace mpa
