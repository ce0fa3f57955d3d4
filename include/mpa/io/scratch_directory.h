// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "mpa/base/ending.h"
#include "mpa/io/directory_lock.h"

namespace mpa::io {

/// A hidden directory for unfinished outputs, on the file system of the finished ones. It is
/// removed with its contents, however the program ends. The leftovers of a killed run are removed
/// when the next run of the same machine makes a scratch directory in the same place.
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
  std::optional<DirectoryLock> lock_;  ///< tells other runs that the directory is in use
  std::optional<CleanUp> clean_up_;
};

/// The final name of an unfinished output, for messages: `path` without its scratch directories.
std::string FinalName(const std::filesystem::path& path);

}  // namespace mpa::io
