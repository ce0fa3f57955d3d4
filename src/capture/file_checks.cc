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

void CheckInput(const std::filesystem::path& path, bool force) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    Fail(ErrorKind::kInput, "{}: {}", path.string(), std::strerror(errno));
  }
  const int wanted = S_ISDIR(status.st_mode) ? R_OK | X_OK : R_OK;
  if (access(path.c_str(), wanted) != 0) {
    Fail(ErrorKind::kInput, "{}: {}", path.string(), std::strerror(errno));
  }
  if (force || geteuid() == 0) return;
  if (status.st_uid != geteuid()) {
    LogWarning("{}: the owner is somebody else; use --force to read it without this warning",
               path.string());
  } else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    LogWarning("{}: others may write to it; use --force to read it without this warning",
               path.string());
  }
}

}  // namespace mpa
