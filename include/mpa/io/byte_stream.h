// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

namespace mpa::io {

/// The text of a file from its first byte to its last; gzip data, recognised by its first bytes, is
/// unpacked on the way. Errors name the file.
class ByteStream {
 public:
  /// Throws Error (kInput) when there is no such file or it cannot be read.
  explicit ByteStream(const std::filesystem::path& path);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Reads the next bytes of the text; fewer than `count` only at its end. Throws Error: kCorrupt
  /// for broken gzip data and for data that unpacks to hundreds of times its size, kInput when
  /// reading fails.
  std::size_t Read(char* to, std::size_t count);
  bool is_gzip() const;
  /// Seeks back to a byte of the text that was already read.
  void Seek(std::size_t offset);
  /// True when the text ended before the gzip data in the file did: the file was cut off.
  bool truncated() const;
  /// How far the file itself has been read.
  std::int64_t file_offset() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mpa::io
