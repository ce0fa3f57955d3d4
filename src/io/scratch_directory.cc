// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/scratch_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "mpa/base/error.h"

namespace mpa::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".msprof-analyze-unfinished-";

// First under another name, so that threads which still write there cannot add to it.
void Remove(const fs::path& directory) {
  const fs::path gone = directory.string() + "-";
  std::error_code ignored;
  fs::remove_all(std::rename(directory.c_str(), gone.c_str()) == 0 ? gone : directory, ignored);
}

bool IsOurs(const fs::path& directory) {
  struct stat status {};
  return lstat(directory.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == geteuid();
}

void RemoveLeftovers(const fs::path& parent) {
  std::error_code error;
  fs::directory_iterator entries(parent, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const fs::path& path = entries->path();
    if (!path.filename().string().starts_with(kPrefix) || !IsOurs(path)) continue;
    const DirectoryLock lock(path);
    if (lock.state() == DirectoryLock::State::kHeld) Remove(path);
  }
}

}  // namespace

ScratchDirectory::ScratchDirectory(const fs::path& parent) {
  const fs::path directory = parent.empty() ? "." : parent;
  RemoveLeftovers(directory);
  do {
    const Uninterrupted made_and_registered;
    std::string name = (directory / kPrefix).string() + "XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      Fail(ErrorKind::kOutput, "{}: cannot write there: {}", directory.string(),
           std::strerror(errno));
    }
    path_ = name;
    clean_up_.emplace([this] { Remove(path_); });
    lock_.emplace(path_);
    lock_->Wait();
    // Another run may have removed it before it was locked.
  } while (access(path_.c_str(), F_OK) != 0);
}

ScratchDirectory::~ScratchDirectory() {
  const Uninterrupted to_its_end;
  try {
    Remove(path_);
  } catch (...) {  // no memory; the next run removes it
  }
}

std::string FinalName(const fs::path& path) {
  fs::path name;
  for (const fs::path& part : path) {
    if (!part.string().starts_with(kPrefix)) name /= part;
  }
  return name.string();
}

}  // namespace mpa::io
