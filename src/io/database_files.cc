// SPDX-License-Identifier: Apache-2.0
// The state in which the writer of a database left its files.
#include "database_files.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

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

std::uint32_t BigEndian(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

// The start of a database, as far as it is needed here.
struct Header {
  std::int64_t page_size = 0;
  std::int64_t pages = 0;  // 0: unknown
};

Header HeaderOf(const FileDescriptor& file) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::array<unsigned char, 100> start{};
  if (pread(file.get(), start.data(), start.size(), 0) != static_cast<ssize_t>(start.size()) ||
      std::string_view(reinterpret_cast<const char*>(start.data()), kMagic.size()) != kMagic)
    return {};
  const std::int64_t size = std::int64_t{start[16]} << 8 | start[17];
  Header header{size == 1 ? 65536 : size, 0};
  // Old versions of SQLite changed the file without this number.
  if (BigEndian(&start[24]) == BigEndian(&start[92])) header.pages = BigEndian(&start[28]);
  return header;
}

[[noreturn]] void FailForMissingPages(const char* what, std::int64_t there, std::int64_t all) {
  Fail(ErrorKind::kCorrupt,
       "the {} was cut: it has {} of its {} pages, and what is missing would be read as zeros;"
       " copy it again",
       what, there, all);
}

// The pages that writes put behind the end of the file, and the size after the last of them.
// SQLite ignores what follows the first damaged one.
void CheckWritesAreWhole(const std::filesystem::path& path, const Header& header,
                         std::int64_t pages_of_file) {
  constexpr std::int64_t kHead = 32, kFrameHead = 24;
  const FileDescriptor wal(path.string() + "-wal");
  const auto bytes = static_cast<std::int64_t>(wal.size());
  std::array<unsigned char, kHead> head{};
  if (pread(wal.get(), head.data(), head.size(), 0) != kHead || header.page_size <= 0)
    Fail(ErrorKind::kCorrupt, "its file -wal was cut: it has no header; copy both again");
  const std::int64_t frame_size = kFrameHead + header.page_size;
  if ((bytes - kHead) % frame_size != 0)
    Fail(ErrorKind::kCorrupt,
         "its file -wal was cut: the last write is not whole; copy both again");
  std::int64_t size = 0;
  bool is_complete = true;
  std::vector<std::uint32_t> behind;
  for (std::int64_t at = kHead; at < bytes; at += frame_size) {
    std::array<unsigned char, kFrameHead> frame{};
    if (pread(wal.get(), frame.data(), frame.size(), at) != kFrameHead) break;
    if (!std::equal(&frame[8], &frame[16], &head[16])) break;  // left from before
    if (BigEndian(frame.data()) > pages_of_file) behind.push_back(BigEndian(frame.data()));
    is_complete = BigEndian(&frame[4]) != 0;
    if (is_complete) size = BigEndian(&frame[4]);
  }
  if (!is_complete)
    Fail(ErrorKind::kCorrupt,
         "its file -wal was cut: the last write is not whole; copy both again");
  std::ranges::sort(behind);
  const auto distinct = std::unique(behind.begin(), behind.end()) - behind.begin();
  if (pages_of_file + distinct < size)
    FailForMissingPages("database", pages_of_file + distinct, size);
}

// A database that lost its end reads as if zeros stood there, where nothing else refers to it.
void CheckWhole(const std::filesystem::path& path, const FileDescriptor& file, bool has_writes) {
  const Header header = HeaderOf(file);
  if (header.page_size <= 0) return;  // SQLite says what it is
  const auto bytes = static_cast<std::int64_t>(file.size());
  const std::int64_t pages = bytes / header.page_size;
  if (has_writes) {
    CheckWritesAreWhole(path, header, pages);
  } else if (header.pages > pages) {
    FailForMissingPages("database", pages, header.pages);
  }
}

}  // namespace

bool HasWrites(const std::filesystem::path& path) {
  return InContext(path.string(), [&] {
    const FileDescriptor file(path);
    if (file.size() == 0) Fail(ErrorKind::kInput, "the file is empty");
    WaitForWriter(file);
    if (HasJournal(path)) {
      Fail(ErrorKind::kInput,
           "a write to the database was interrupted, which left {}-journal; copy both files and"
           " open the copy once with sqlite3, which rolls the write back",
           path.filename().string());
    }
    const bool has_writes = HasWal(path);
    CheckWhole(path, file, has_writes);
    return has_writes;
  });
}

}  // namespace mpa::io
