// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace mpa::io {

/// A text file that is written from its first byte to its last, packed with gzip if it is asked
/// for. The same text gives the same bytes.
class PackedFile {
 public:
  /// Throws Error (kOutput).
  PackedFile(std::filesystem::path path, bool packed);
  ~PackedFile();
  PackedFile(const PackedFile&) = delete;
  PackedFile& operator=(const PackedFile&) = delete;

  /// Throws Error (kOutput) when there is no room.
  void Write(std::string_view text);
  /// Throws Error (kOutput) when not all of the text is in the file.
  void Close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mpa::io
