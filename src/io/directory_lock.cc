// SPDX-License-Identifier: Apache-2.0
#include "mpa/io/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "mpa/base/log.h"

namespace mpa::io {

DirectoryLock::DirectoryLock(const std::filesystem::path& directory)
    : fd_(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (fd_ < 0) return;
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0) {
    state_ = State::kHeld;
  } else if (errno == EWOULDBLOCK) {
    state_ = State::kTaken;
  }
}

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) close(fd_);
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), state_(other.state_) {}

void DirectoryLock::Wait() {
  while (state_ == State::kTaken) {
    if (flock(fd_, LOCK_EX) == 0) {
      state_ = State::kHeld;
    } else if (errno != EINTR) {
      state_ = State::kImpossible;
    }
  }
}

DirectoryLock LockForChanges(const std::filesystem::path& directory) {
  DirectoryLock lock(directory);
  if (lock.state() == DirectoryLock::State::kTaken) {
    LogNotice("{}: another run is writing there; waiting until it ends", directory.string());
    lock.Wait();
  }
  return lock;
}

}  // namespace mpa::io
