// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace mpa::io {

/// Throws Error (kCorrupt) for text that begins as UTF-16 or UTF-32, as spreadsheets and shells of
/// Windows save it.
void RefuseWideText(std::string_view text);

/// Binary records may begin with the bytes of gzip by chance: they are taken as they are.
enum class Content { kMaybeGzip, kAsIs };

/// The whole content of a file: memory-mapped, or inflated when the file is gzipped (told by its
/// first bytes, not by its name).
class InputText {
 public:
  /// Throws Error (kInput) when the file cannot be opened, (kCorrupt) when its gzip data is broken.
  /// A gzip stream that ends early gives the text up to there, and truncated().
  explicit InputText(const std::filesystem::path& path, Content content = Content::kMaybeGzip);
  ~InputText();
  InputText(const InputText&) = delete;
  InputText& operator=(const InputText&) = delete;

  std::string_view text() const { return text_; }
  bool truncated() const { return truncated_; }

 private:
  void* map_ = nullptr;
  std::size_t map_size_ = 0;
  std::string inflated_;
  std::string_view text_ = inflated_;  // never null: the CSV library hands it to memcpy
  bool truncated_ = false;
};

/// The first `count` bytes of the (inflated) content; fewer when the file is shorter.
std::string ReadStart(const std::filesystem::path& path, std::size_t count);
/// The last `count` bytes of a file as it is, not inflated; all of a shorter one.
std::string ReadEnd(const std::filesystem::path& path, std::size_t count);
/// The last `count` bytes of the (inflated) content; a gzipped file is unpacked up to its end.
std::string ReadTextEnd(const std::filesystem::path& path, std::size_t count);

}  // namespace mpa::io
