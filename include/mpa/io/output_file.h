// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace mpa::io {

/// Creates `directory` (mode 0750) if need be and checks that files can be written there, before
/// the long work starts. Throws Error: kUsage when a file has that name, kOutput otherwise.
void PrepareOutputDirectory(const std::filesystem::path& directory);

/// A file that appears under its name only when it is complete: written under a temporary name in
/// the same directory, renamed by CommitAs(). Without that nothing stays behind.
class OutputFile {
 public:
  /// `path` tells directory and beginning of the temporary name.
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::filesystem::path& temporary_path() const { return temporary_; }
  /// Gives the file its name; false, and nothing happens, when another file has it. Throws Error
  /// (kOutput) when that cannot be done.
  bool CommitAs(const std::filesystem::path& path);

 private:
  std::filesystem::path temporary_;
  bool committed_ = false;
};

}  // namespace mpa::io
