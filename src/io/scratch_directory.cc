// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/scratch_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "mpa/base/error.h"

namespace mpa::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".msprof-analyze-unfinished-";
constexpr char kEndOfMachine = '@';

// Of those that this machine makes. File systems of the network may have locks that other machines
// do not see, so whether a directory of another one is in use cannot be asked.
std::string OwnPrefix() {
  std::string name(HOST_NAME_MAX + 1, '\0');
  if (gethostname(name.data(), name.size() - 1) != 0) name.clear();
  return std::string(kPrefix) + name.c_str() + kEndOfMachine;
}

bool IsOfThisMachine(const std::string& name) {
  return name.starts_with(OwnPrefix()) ||
         (name.starts_with(kPrefix) && name.find(kEndOfMachine) == std::string::npos);
}

// First under another name, so that threads which still write there cannot add to it.
std::error_code Remove(const fs::path& directory) {
  const fs::path gone = directory.string() + "-";
  const bool is_renamed = std::rename(directory.c_str(), gone.c_str()) == 0;
  std::error_code error;
  fs::remove_all(gone, error);
  if (!is_renamed) fs::remove_all(directory, error);
  return error;
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
    if (!IsOfThisMachine(path.filename().string()) || !IsOurs(path)) continue;
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
    std::string name = (directory / OwnPrefix()).string() + "XXXXXX";
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
    if (Remove(path_) == std::errc::not_enough_memory) EndForMemory();
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
