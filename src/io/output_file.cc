// SPDX-License-Identifier: Apache-2.0
// Outputs that are written whole or not at all.
#include "mpa/io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "mpa/base/ending.h"
#include "mpa/base/error.h"
#include "mpa/io/packed_file.h"

namespace mpa::io {

namespace fs = std::filesystem;

namespace {

// A plain rename would replace an existing file of that name, and an empty directory.
bool RenameToFreeName(const fs::path& from, const fs::path& to) {
  if (fs::is_directory(from)) {  // the file system has no links
    return renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0;
  }
  if (link(from.c_str(), to.c_str()) != 0) return false;
  unlink(from.c_str());
  return true;
}

// The name exists at every moment. Not every file system supports this.
bool Exchange(const fs::path& a, const fs::path& b) {
  return renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
}

// What has the name of an output, once its directory is there. Asked once: another run may be
// making it.
fs::file_status StatusOfPlace(const fs::path& path) {
  PrepareOutputDirectory(fs::absolute(path).parent_path());
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none) {
    Fail(ErrorKind::kOutput, "{}: {}", path.string(), error.message());
  }
  return status;
}

// A file can take the place of what has that status.
void CheckPlace(const fs::path& path, fs::file_status status) {
  if (fs::is_directory(status)) {
    Fail(ErrorKind::kOutput, "{}: a directory has this name", path.string());
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    Fail(ErrorKind::kOutput, "{}: not a regular file; it would be replaced", path.string());
  }
  if (fs::exists(status) && access(path.c_str(), W_OK) != 0) {
    Fail(ErrorKind::kOutput, "{}: cannot be replaced: {}", path.string(), std::strerror(errno));
  }
}

}  // namespace

namespace {

void RefuseFile(const fs::path& directory) {
  std::error_code error;
  if (fs::exists(directory, error) && !fs::is_directory(directory, error)) {
    Fail(ErrorKind::kUsage, "{}: a file has this name; give a directory", directory.string());
  }
}

}  // namespace

void PrepareOutputDirectory(const fs::path& directory) {
  RefuseFile(directory);
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    if (directory.has_parent_path()) fs::create_directories(directory.parent_path(), error);
    if (mkdir(directory.c_str(), 0750) != 0 && errno != EEXIST) {
      Fail(ErrorKind::kOutput, "{}: cannot create the directory: {}", directory.string(),
           std::strerror(errno));
    }
  }
  const ScratchDirectory works(directory);
}

void MakeDirectory(const fs::path& directory) {
  if (mkdir(directory.c_str(), 0750) == 0) return;
  Fail(ErrorKind::kOutput, "{}: {}", FinalName(directory), std::strerror(errno));
}

void PrepareDirectoryBelow(const fs::path& root, const fs::path& below) {
  RefuseFile(root);
  fs::path directory = root;
  for (const fs::path& part : below) {
    directory /= part;
    std::error_code ignored;
    if (fs::is_symlink(directory, ignored)) {
      Fail(ErrorKind::kOutput,
           "{}: a link, and nothing is written through links; remove it or write elsewhere",
           directory.string());
    }
  }
  PrepareOutputDirectory(directory);
}

void PrepareOutputFile(const fs::path& path) { CheckPlace(path, StatusOfPlace(path)); }

void PrepareOutputTree(const fs::path& path) {
  const fs::file_status status = StatusOfPlace(path);
  if (!fs::is_directory(status)) CheckPlace(path, status);
}

OutputFile::OutputFile(const fs::path& path)
    : scratch_(path.parent_path()), temporary_(scratch_.path() / path.filename()) {}

bool OutputFile::CommitAs(const fs::path& path) {
  if (!RenameToFreeName(temporary_, path)) {
    if (errno == EEXIST || fs::exists(path)) return false;
    // Not every file system supports links, or a rename that does not replace.
    if (std::rename(temporary_.c_str(), path.c_str()) != 0) {
      Fail(ErrorKind::kOutput, "{}: {}", path.string(), std::strerror(errno));
    }
  }
  committed_ = path;
  return true;
}

void OutputFile::Replace(const fs::path& path) {
  const Uninterrupted replacing;
  const fs::path before = scratch_.path() / "before";
  std::error_code error, ignored;
  const bool is_directory = fs::is_directory(temporary_);
  bool both = is_directory && fs::exists(path, ignored);
  if (!both) {
    fs::rename(temporary_, path, error);
    both = error && is_directory && fs::exists(path, ignored);  // another run has made it meanwhile
  }
  if (both && !Exchange(temporary_, path)) {
    fs::rename(path, before, ignored);
    fs::rename(temporary_, path, error);
    if (error) fs::rename(before, path, ignored);
  } else if (both) {
    error.clear();
  }
  if (error) Fail(ErrorKind::kOutput, "{}: {}", path.string(), error.message());
  committed_ = path;
}

void OutputFile::TakeBack() noexcept {
  if (committed_.empty() || std::rename(committed_.c_str(), temporary_.c_str()) != 0) return;
  committed_.clear();
}

OutputSet::OutputSet(fs::path directory, std::string stem)
    : directory_(std::move(directory)), stem_(std::move(stem)) {}

const fs::path& OutputSet::Add(const std::string& ending) {
  endings_.push_back(ending);
  return files_.emplace_back(directory_ / (stem_ + ending)).temporary_path();
}

std::vector<fs::path> OutputSet::Commit() {
  const Uninterrupted together;
  std::vector<fs::path> paths;
  try {
    bool done = CommitAs(stem_, paths);
    for (int i = 1; !done; ++i) done = CommitAs(fmt::format("{}{:02}", stem_, i), paths);
  } catch (...) {
    TakeBack();
    throw;
  }
  return paths;
}

bool OutputSet::CommitAs(const std::string& stem, std::vector<fs::path>& paths) {
  paths.clear();
  for (std::size_t i = 0; i < files_.size(); ++i) {
    paths.push_back(directory_ / (stem + endings_[i]));
    if (files_[i].CommitAs(paths.back())) continue;
    TakeBack();
    return false;
  }
  return true;
}

void OutputSet::TakeBack() noexcept {
  for (OutputFile& file : files_) file.TakeBack();
}

TextFile::TextFile(fs::path path)
    : path_(std::move(path)), stream_(std::fopen(path_.c_str(), "wb")) {
  if (!stream_) Fail(ErrorKind::kOutput, "{}: {}", FinalName(path_), std::strerror(errno));
}

void TextFile::Write(std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stream_.get());
}

void TextFile::WriteAt(std::uint64_t place, std::string_view text) {
  const auto seek = [&](long to, int from) {
    if (std::fseek(stream_.get(), to, from) == 0) return;
    Fail(ErrorKind::kOutput, "{}: {}", FinalName(path_), std::strerror(errno));
  };
  seek(static_cast<long>(place), SEEK_SET);
  Write(text);
  seek(0, SEEK_END);
}

void TextFile::Close() {
  const bool failed = std::ferror(stream_.get()) != 0;
  if (std::fclose(stream_.release()) != 0 || failed) {
    Fail(ErrorKind::kOutput, "{}: {}", FinalName(path_), std::strerror(errno));
  }
}

void WriteText(const fs::path& path, std::string_view text) {
  TextFile file(path);
  file.Write(text);
  file.Close();
}

void ReplaceText(const fs::path& path, std::string_view text) {
  OutputFile output(path);
  if (path.extension() == ".gz") {
    PackedFile file(output.temporary_path(), true);
    file.Write(text);
    file.Close();
  } else {
    WriteText(output.temporary_path(), text);
  }
  output.Replace(path);
}

}  // namespace mpa::io
