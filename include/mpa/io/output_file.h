// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/io/scratch_directory.h"

namespace mpa::io {

/// Creates `directory` (mode 0750) if need be and checks that files can be written there, before
/// the long work starts. Throws Error: kUsage when a file has that name, kOutput otherwise.
void PrepareOutputDirectory(const std::filesystem::path& directory);

/// Creates `directory` (mode 0750), which must not exist. Throws Error (kOutput).
void MakeDirectory(const std::filesystem::path& directory);

/// The same as PrepareOutputDirectory() for root/below, where the user gave `root` alone: a link on
/// the way from there could lead anywhere and is refused.
void PrepareDirectoryBelow(const std::filesystem::path& root, const std::filesystem::path& below);

/// The same for the directory of a file, and checks that the file can take the place of what has
/// its name. Throws Error (kOutput).
void PrepareOutputFile(const std::filesystem::path& path);
/// The same for an output that is a directory, which takes the place of another directory as a
/// whole.
void PrepareOutputTree(const std::filesystem::path& path);

/// A file, or a directory with its contents, that appears under its name only when it is complete.
/// It is written in a scratch directory and renamed by CommitAs(). Without that call nothing
/// remains.
class OutputFile {
 public:
  /// `path` gives its final location and its name in the scratch directory.
  explicit OutputFile(const std::filesystem::path& path);

  const std::filesystem::path& temporary_path() const { return temporary_; }
  /// Gives the file its name; returns false and does nothing when another file has the name. Throws
  /// Error (kOutput) when the rename fails.
  bool CommitAs(const std::filesystem::path& path);
  /// The same, but replaces an existing file; a directory is replaced as a whole.
  void Replace(const std::filesystem::path& path);
  /// Makes a committed file temporary again.
  void TakeBack() noexcept;

 private:
  ScratchDirectory scratch_;
  std::filesystem::path temporary_;
  std::filesystem::path committed_;  ///< empty until it is committed
};

/// Outputs of one run, which appear together or not at all.
class OutputSet {
 public:
  OutputSet(std::filesystem::path directory, std::string stem);

  /// The temporary path of one more output, which will be named `<stem><ending>`.
  const std::filesystem::path& Add(const std::string& ending);
  /// Gives the outputs their names and returns the names. When one of the names is taken, all
  /// outputs get the stem followed by 01, 02, ...: no run overwrites the results of another. Throws
  /// Error (kOutput).
  std::vector<std::filesystem::path> Commit();

 private:
  bool CommitAs(const std::string& stem, std::vector<std::filesystem::path>& paths);
  void TakeBack() noexcept;

  std::filesystem::path directory_;
  std::string stem_;
  std::vector<std::string> endings_;
  std::deque<OutputFile> files_;
};

/// A text file that is being written. The stream keeps failures of single writes for Close().
class TextFile {
 public:
  explicit TextFile(std::filesystem::path path);

  std::FILE* stream() const { return stream_.get(); }
  void Write(std::string_view text);
  /// Overwrites the bytes from offset `place`, then goes back to the end. Throws Error (kOutput)
  /// when the offset cannot be reached.
  void WriteAt(std::uint64_t place, std::string_view text);
  /// Throws Error (kOutput) when not all of the text is in the file.
  void Close();

 private:
  struct Closer {
    void operator()(std::FILE* stream) const { (void)std::fclose(stream); }
  };
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Closer> stream_;
};

/// A file of a text that is at hand. Throws Error (kOutput).
void WriteText(const std::filesystem::path& path, std::string_view text);
/// Writes a file completely or not at all, packed with gzip if its name ends in ".gz"; an existing
/// file is replaced. Throws Error (kOutput).
void ReplaceText(const std::filesystem::path& path, std::string_view text);

}  // namespace mpa::io
