// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mpa::test {

/// A directory of its own, removed with everything in it at the end.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  /// Writes a file below the directory, making the directories it needs; returns its path.
  std::filesystem::path Write(std::string_view name, std::string_view content) const;
  /// The names of all files in the directory, in order.
  std::vector<std::string> Names() const;

 private:
  std::filesystem::path path_;
};

std::string ReadAll(const std::filesystem::path& path);

/// `text` as one gzip member.
std::string Gzip(std::string_view text);

/// A member of a zip archive (a workbook is one), inflated; empty when there is no such member.
std::string ZipMember(const std::filesystem::path& archive, std::string_view name);

/// Creates a SQLite database with the given statements; returns its path.
std::filesystem::path BuildDatabase(const std::filesystem::path& path, const std::string& sql);

}  // namespace mpa::test
