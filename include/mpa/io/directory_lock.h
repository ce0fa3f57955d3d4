// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace mpa::io {

/// Keeps other runs of the program out of a directory, in whichever container on the machine they
/// run. It leaves no file behind, even when the run is killed. On file systems that cannot lock
/// directories (NFS) the result is neither kHeld nor kTaken.
class DirectoryLock {
 public:
  enum class State { kHeld, kTaken, kImpossible };

  /// Takes the lock if it is free.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  DirectoryLock& operator=(DirectoryLock&&) = delete;

  State state() const { return state_; }
  /// Takes the lock as soon as it is free.
  void Wait();

 private:
  int fd_;
  State state_ = State::kImpossible;
};

/// The lock of a directory whose contents other runs may change, too. Reports when it has to wait.
DirectoryLock LockForChanges(const std::filesystem::path& directory);

}  // namespace mpa::io
