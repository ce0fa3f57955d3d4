// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace mpa::io {

/// Creates `directory` (mode 0750) if need be and checks that files can be written there, before the
/// long work starts. Throws Error: kUsage when a file has that name, kOutput otherwise.
void PrepareOutputDirectory(const std::filesystem::path& directory);

/// A file that appears under its name only when it is complete: written under a temporary name in
/// the same directory, renamed by Commit(). Without Commit() nothing stays behind.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::filesystem::path& temporary_path() const { return temporary_; }
  /// Throws Error (kOutput) when the file cannot get its name.
  void Commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  bool committed_ = false;
};

}  // namespace mpa::io
