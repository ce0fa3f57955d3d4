// SPDX-License-Identifier: Apache-2.0
// The state in which the writer of a database left its files.
#include "database_files.h"

#include <fcntl.h>

#include <array>
#include <chrono>
#include <string_view>
#include <system_error>
#include <thread>

#include "file_descriptor.h"
#include "mpa/base/error.h"

namespace mpa::io {
namespace {

// The process that holds one of the locks with which SQLite guards a write; 0 when there is none.
pid_t WriterOf(const FileDescriptor& file) {
  struct flock lock {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = 0x40000000;  // SQLite's lock bytes, whatever the size of the file
  lock.l_len = 512;
  const bool known = fcntl(file.get(), F_GETLK, &lock) == 0;
  return known && lock.l_type == F_WRLCK ? lock.l_pid : 0;
}

void WaitForWriter(const FileDescriptor& file) {
  constexpr int kTries = 20;
  constexpr std::chrono::milliseconds kPause{100};
  pid_t writer = WriterOf(file);
  for (int i = 0; i < kTries && writer != 0; ++i) {
    std::this_thread::sleep_for(kPause);
    writer = WriterOf(file);
  }
  if (writer != 0) {
    Fail(ErrorKind::kInput,
         "process {} is writing to the database; try again when it has ended, or with a copy",
         writer);
  }
}

// A journal whose first bytes were wiped belongs to a write that was completed.
bool HasJournal(const std::filesystem::path& path) {
  constexpr std::string_view kMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  const std::filesystem::path journal = path.string() + "-journal";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(journal, ignored)) return false;
  const FileDescriptor file(journal);
  std::array<char, kMagic.size()> start{};
  const ssize_t got = pread(file.get(), start.data(), start.size(), 0);
  return got == static_cast<ssize_t>(start.size()) &&
         std::string_view(start.data(), start.size()) == kMagic;
}

bool HasWal(const std::filesystem::path& path) {
  const std::filesystem::path wal = path.string() + "-wal";
  std::error_code error;
  const bool file = std::filesystem::is_regular_file(wal, error);
  return file && std::filesystem::file_size(wal, error) > 0 && !error;
}

}  // namespace

bool HasWrites(const std::filesystem::path& path) {
  return InContext(path.string(), [&] {
    const FileDescriptor file(path);
    if (file.size() == 0) Fail(ErrorKind::kInput, "the file is empty");
    WaitForWriter(file);
    if (HasJournal(path)) {
      Fail(ErrorKind::kInput,
           "a write to the database was interrupted, which left {}-journal; copy both files and "
           "open the copy once with sqlite3, which undoes the write",
           path.filename().string());
    }
    return HasWal(path);
  });
}

}  // namespace mpa::io
