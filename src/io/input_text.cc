// SPDX-License-Identifier: Apache-2.0
// Files as text: mapped, or inflated from gzip.
#include "mpa/io/input_text.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "mpa/base/error.h"

namespace mpa::io {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(const std::filesystem::path& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) Fail(ErrorKind::kInput, "cannot open the file: {}", std::strerror(errno));
  }
  ~FileDescriptor() { close(fd_); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

bool IsGzip(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

// Appends the inflated `bytes` to `out` until `limit` bytes are there; true when the stream ended
// properly (or the limit was reached).
bool Inflate(std::string_view bytes, std::size_t limit, std::string& out) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) {
    Fail(ErrorKind::kResource, "no memory to unpack gzip data");
  }
  struct Ender {
    z_stream* stream;
    ~Ender() { inflateEnd(stream); }
  } ender{&stream};
  constexpr std::size_t kStep = std::size_t{1} << 20;
  std::size_t consumed = 0;
  bool ended = false;
  while (out.size() < limit) {
    if (stream.avail_in == 0) {
      if (consumed == bytes.size()) break;
      const std::size_t chunk = std::min(bytes.size() - consumed, std::size_t{1} << 30);
      // zlib's interface predates const; it does not write to its input.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + consumed));
      stream.avail_in = static_cast<uInt>(chunk);
      consumed += chunk;
    }
    const std::size_t old_size = out.size();
    const std::size_t step = std::min(kStep, limit - old_size);
    out.resize(old_size + step);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + old_size);
    stream.avail_out = static_cast<uInt>(step);
    const int status = inflate(&stream, Z_NO_FLUSH);
    out.resize(old_size + step - stream.avail_out);
    if (status == Z_STREAM_END) {
      ended = true;
      if (stream.avail_in == 0 && consumed == bytes.size()) break;
      if (inflateReset(&stream) != Z_OK) break;  // another gzip member follows
      continue;
    }
    if (status != Z_OK && status != Z_BUF_ERROR) {
      Fail(ErrorKind::kCorrupt, "broken gzip data ({})", stream.msg ? stream.msg : "unknown cause");
    }
    ended = false;
  }
  return ended || out.size() >= limit;
}

}  // namespace

InputText::InputText(const std::filesystem::path& path, Content content) {
  InContext(path.string(), [&] {
    const FileDescriptor file(path);
    struct stat status {};
    if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
      Fail(ErrorKind::kInput, "not a regular file");
    }
    map_size_ = static_cast<std::size_t>(status.st_size);
    if (map_size_ == 0) return;
    map_ = mmap(nullptr, map_size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (map_ == MAP_FAILED) {
      map_ = nullptr;
      Fail(ErrorKind::kInput, "cannot map the file: {}", std::strerror(errno));
    }
    madvise(map_, map_size_, MADV_SEQUENTIAL);
    text_ = {static_cast<const char*>(map_), map_size_};
    if (content == Content::kMaybeGzip && IsGzip(text_)) {
      truncated_ = !Inflate(text_, static_cast<std::size_t>(-1), inflated_);
      text_ = inflated_;
    }
  });
}

InputText::~InputText() {
  if (map_ != nullptr) munmap(map_, map_size_);
}

std::string ReadStart(const std::filesystem::path& path, std::size_t count) {
  return InContext(path.string(), [&] {
    const FileDescriptor file(path);
    std::string bytes(std::max<std::size_t>(count, 4096), '\0');
    const ssize_t got = read(file.get(), bytes.data(), bytes.size());
    if (got < 0) Fail(ErrorKind::kInput, "cannot read the file: {}", std::strerror(errno));
    bytes.resize(static_cast<std::size_t>(got));
    if (IsGzip(bytes)) {
      std::string start;
      Inflate(bytes, count, start);
      bytes = std::move(start);
    }
    bytes.resize(std::min(bytes.size(), count));
    return bytes;
  });
}

std::string ReadEnd(const std::filesystem::path& path, std::size_t count) {
  return InContext(path.string(), [&] {
    const FileDescriptor file(path);
    const off_t size = lseek(file.get(), 0, SEEK_END);
    if (size < 0) Fail(ErrorKind::kInput, "cannot read the file: {}", std::strerror(errno));
    std::string bytes(std::min(count, static_cast<std::size_t>(size)), '\0');
    const off_t from = size - static_cast<off_t>(bytes.size());
    const ssize_t got = pread(file.get(), bytes.data(), bytes.size(), from);
    if (got < 0) Fail(ErrorKind::kInput, "cannot read the file: {}", std::strerror(errno));
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
  });
}

}  // namespace mpa::io
