// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace mpa::io {

/// Keeps other runs of the program out of a directory, whichever container of the machine they are
/// in; leaves no file behind, also when the run is killed. On file systems that cannot lock
/// directories (NFS) there is neither kHeld nor kTaken.
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

/// The lock of a directory in which something is going to be changed that other runs change, too;
/// says so when it has to wait.
DirectoryLock LockForChanges(const std::filesystem::path& directory);

}  // namespace mpa::io
