// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "mpa/base/ending.h"
#include "mpa/io/directory_lock.h"

namespace mpa::io {

/// A hidden directory for unfinished outputs, on the file system of the finished ones. It goes with
/// all that is in it, however the program ends; what a killed run left behind goes when the next
/// one makes a scratch directory in the same place.
class ScratchDirectory {
 public:
  /// Throws Error (kOutput) when nothing can be made in `parent`.
  explicit ScratchDirectory(const std::filesystem::path& parent);
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::optional<DirectoryLock> lock_;  ///< by which others know that it is in use
  std::optional<CleanUp> clean_up_;
};

/// The name that an unfinished output is going to have, for messages: `path` without the scratch
/// directories in it.
std::string FinalName(const std::filesystem::path& path);

}  // namespace mpa::io
