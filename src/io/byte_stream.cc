// SPDX-License-Identifier: Apache-2.0
// Reads files from front to back and unpacks compressed ones.
#include "mpa/io/byte_stream.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "file_descriptor.h"
#include "mpa/base/error.h"

namespace mpa::io {
namespace {

constexpr std::size_t kPackedBytes = std::size_t{256} << 10;

// Traces shrink to between a tenth and a thirtieth; gzip's limit is a thousandth. Small files can
// do no harm.
constexpr std::int64_t kMaxTextPerByte = 200;
constexpr std::int64_t kSmallText = std::int64_t{64} << 20;

// Unpacks gzip data that arrives in parts; several members may follow each other.
class Unpacker {
 public:
  Unpacker() {
    constexpr int kGzipWindow = 15 + 16;
    if (inflateInit2(&stream_, kGzipWindow) != Z_OK) {
      Fail(ErrorKind::kResource, "not enough memory to unpack gzip data");
    }
  }
  ~Unpacker() { inflateEnd(&stream_); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  void Restart() {
    inflateReset(&stream_);
    stream_.avail_in = 0;
    member_ended_ = false;
  }
  bool needs_input() const { return stream_.avail_in == 0; }
  bool member_ended() const { return member_ended_; }
  void SetInput(std::string_view packed) {
    // zlib's interface predates const; it does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(packed.size());
  }

  // Returns how many bytes were written.
  std::size_t Unpack(char* to, std::size_t count) {
    // Blocks of tapes and lost pages of disks leave zeros behind the end.
    while (member_ended_ && !needs_input() && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (member_ended_ && (needs_input() || inflateReset(&stream_) != Z_OK)) return 0;
    const uInt room = static_cast<uInt>(std::min(count, std::size_t{1} << 30));
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = room;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) Fail(ErrorKind::kResource, "not enough memory to unpack gzip data");
    if (status != Z_OK && status != Z_BUF_ERROR && status != Z_STREAM_END) {
      Fail(ErrorKind::kCorrupt, "broken gzip data ({})",
           stream_.msg ? stream_.msg : "unknown cause");
    }
    member_ended_ = status == Z_STREAM_END;
    return room - stream_.avail_out;
  }

 private:
  z_stream stream_{};
  bool member_ended_ = false;
};

}  // namespace

struct ByteStream::State {
  explicit State(const std::filesystem::path& path) : name(path.string()), file(path) {}

  std::string name;
  FileDescriptor file;
  std::int64_t offset = 0;
  std::int64_t unpacked = 0;
  bool truncated = false;
  std::unique_ptr<Unpacker> unpacker;  // of gzip data
  std::vector<char> packed;

  std::size_t ReadFile(char* to, std::size_t count) {
    std::size_t done = 0;
    while (done < count) {
      const ssize_t got = pread(file.get(), to + done, count - done, offset);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) Fail(ErrorKind::kInput, "cannot read the file: {}", std::strerror(errno));
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
      offset += got;
    }
    return done;
  }

  std::size_t Unpack(char* to, std::size_t count) {
    std::size_t done = 0;
    while (done < count) {
      // The data so far may contain more text than fitted into the buffer.
      const std::size_t got = unpacker->Unpack(to + done, count - done);
      done += got;
      unpacked += static_cast<std::int64_t>(got);
      RefuseBomb();
      if (got > 0 || !unpacker->needs_input()) continue;
      const std::size_t size = ReadFile(packed.data(), packed.size());
      if (size == 0) {
        truncated = !unpacker->member_ended();
        break;
      }
      unpacker->SetInput({packed.data(), size});
    }
    return done;
  }

  void RefuseBomb() const {
    if (unpacked <= kSmallText || unpacked / kMaxTextPerByte <= offset) return;
    Fail(ErrorKind::kCorrupt,
         "the gzip data unpacks to more than {} times its size, unlike any capture; if it is one,"
         " unpack it with gunzip first",
         kMaxTextPerByte);
  }
};

ByteStream::ByteStream(const std::filesystem::path& path) {
  InContext(path.string(), [&] {
    state_ = std::make_unique<State>(path);
    char start[2] = {};
    if (state_->ReadFile(start, sizeof(start)) == sizeof(start) && IsGzip({start, sizeof(start)})) {
      state_->unpacker = std::make_unique<Unpacker>();
      state_->packed.resize(kPackedBytes);
    }
    state_->offset = 0;
  });
}

ByteStream::~ByteStream() = default;

std::size_t ByteStream::Read(char* to, std::size_t count) {
  return InContext(state_->name, [&] {
    return state_->unpacker ? state_->Unpack(to, count) : state_->ReadFile(to, count);
  });
}

bool ByteStream::is_gzip() const { return state_->unpacker != nullptr; }

void ByteStream::Seek(std::size_t offset) {
  state_->truncated = false;
  if (!state_->unpacker) {
    state_->offset = static_cast<std::int64_t>(offset);
    return;
  }
  state_->offset = 0;
  state_->unpacked = 0;
  state_->unpacker->Restart();
  std::vector<char> skipped(std::min(offset, kPackedBytes));
  while (offset > 0) {
    const std::size_t got = Read(skipped.data(), std::min(offset, skipped.size()));
    if (got == 0) break;
    offset -= got;
  }
}

bool ByteStream::truncated() const { return state_->truncated; }

std::int64_t ByteStream::file_offset() const { return state_->offset; }

}  // namespace mpa::io
