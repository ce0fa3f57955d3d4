// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "mpa/base/error.h"

namespace mpa::io {

/// A regular file, open for reading.
class FileDescriptor {
 public:
  /// Throws Error (kInput) when the file does not exist.
  explicit FileDescriptor(const std::filesystem::path& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) Fail(ErrorKind::kInput, "cannot open the file: {}", std::strerror(errno));
    struct stat status {};
    if (fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
      close(fd_);
      Fail(ErrorKind::kInput, "not a regular file");
    }
    size_ = static_cast<std::size_t>(status.st_size);
  }
  ~FileDescriptor() { close(fd_); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return fd_; }
  std::size_t size() const { return size_; }

 private:
  int fd_;
  std::size_t size_ = 0;
};

/// True for the first bytes of gzip data.
inline bool IsGzip(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

}  // namespace mpa::io
