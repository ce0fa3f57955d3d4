// SPDX-License-Identifier: Apache-2.0
// Outputs that are written whole or not at all.
#include "mpa/io/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "mpa/base/error.h"

namespace mpa::io {

namespace fs = std::filesystem;

void PrepareOutputDirectory(const fs::path& directory) {
  std::error_code error;
  if (fs::exists(directory, error) && !fs::is_directory(directory, error)) {
    Fail(ErrorKind::kUsage, "-o {}: a file has this name; give a directory", directory.string());
  }
  if (!fs::is_directory(directory, error)) {
    if (directory.has_parent_path()) fs::create_directories(directory.parent_path(), error);
    if (mkdir(directory.c_str(), 0750) != 0 && errno != EEXIST) {
      Fail(ErrorKind::kOutput, "-o {}: cannot create the directory: {}", directory.string(),
           std::strerror(errno));
    }
  }
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    Fail(ErrorKind::kOutput, "-o {}: cannot write there: {}", directory.string(),
         std::strerror(errno));
  }
}

OutputFile::OutputFile(const fs::path& path) : temporary_(path) {
  temporary_ += fmt::format(".{}.tmp", getpid());
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!committed_) fs::remove(temporary_, ignored);
}

bool OutputFile::CommitAs(const fs::path& path) {
  // A link fails where a rename would replace the other file.
  if (link(temporary_.c_str(), path.c_str()) == 0) {
    unlink(temporary_.c_str());
  } else if (errno == EEXIST || fs::exists(path)) {
    return false;
  } else if (std::rename(temporary_.c_str(), path.c_str()) != 0) {  // no links on this file system
    Fail(ErrorKind::kOutput, "{}: {}", path.string(), std::strerror(errno));
  }
  committed_ = true;
  return true;
}

}  // namespace mpa::io
