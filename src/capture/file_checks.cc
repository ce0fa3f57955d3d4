// SPDX-License-Identifier: Apache-2.0
// The checks every input passes.
#include "file_checks.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "mpa/base/error.h"
#include "mpa/base/log.h"

namespace mpa {

namespace {

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
