// SPDX-License-Identifier: Apache-2.0
// Files as text: mapped, or inflated from gzip.
#include "mpa/io/input_text.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "file_descriptor.h"
#include "mpa/base/error.h"
#include "mpa/io/byte_stream.h"

namespace mpa::io {
namespace {

// Reads `stream` to its end.
std::string RestOf(ByteStream& stream) {
  constexpr std::size_t kStep = std::size_t{1} << 20;
  std::string text;
  std::size_t got = kStep;
  while (got == kStep) {
    const std::size_t size = text.size();
    text.resize(size + kStep);
    got = stream.Read(text.data() + size, kStep);
    text.resize(size + got);
  }
  return text;
}

}  // namespace

void RefuseWideText(std::string_view text) {
  constexpr std::string_view kBegins[] = {"\xFF\xFE", "\xFE\xFF", {"{\0", 2}, {"[\0", 2}};
  const bool is_wide =
      std::ranges::any_of(kBegins, [&](std::string_view begin) { return text.starts_with(begin); });
  if (!is_wide) return;
  Fail(ErrorKind::kCorrupt, "the text is UTF-16, not UTF-8; save it as UTF-8, or copy it again");
}

InputText::InputText(const std::filesystem::path& path, Content content) {
  InContext(path.string(), [&] {
    const FileDescriptor file(path);
    map_size_ = file.size();
    if (map_size_ == 0) return;
    map_ = mmap(nullptr, map_size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (map_ == MAP_FAILED) {
      map_ = nullptr;
      Fail(errno == ENOMEM ? ErrorKind::kResource : ErrorKind::kInput, "cannot map the file: {}",
           std::strerror(errno));
    }
    madvise(map_, map_size_, MADV_SEQUENTIAL);
    text_ = {static_cast<const char*>(map_), map_size_};
  });
  if (content == Content::kMaybeGzip && IsGzip(text_)) {
    ByteStream stream(path);
    inflated_ = RestOf(stream);
    truncated_ = stream.truncated();
    text_ = inflated_;
  }
  if (content == Content::kMaybeGzip) InContext(path.string(), [&] { RefuseWideText(text_); });
}

InputText::~InputText() {
  if (map_ != nullptr) munmap(map_, map_size_);
}

std::string ReadStart(const std::filesystem::path& path, std::size_t count) {
  ByteStream stream(path);
  std::string bytes(count, '\0');
  bytes.resize(stream.Read(bytes.data(), count));
  return bytes;
}

std::string ReadEnd(const std::filesystem::path& path, std::size_t count) {
  return InContext(path.string(), [&] {
    const FileDescriptor file(path);
    std::string bytes(std::min(count, file.size()), '\0');
    const auto from = static_cast<off_t>(file.size() - bytes.size());
    const ssize_t got = pread(file.get(), bytes.data(), bytes.size(), from);
    if (got < 0) Fail(ErrorKind::kInput, "cannot read the file: {}", std::strerror(errno));
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
  });
}

std::string ReadTextEnd(const std::filesystem::path& path, std::size_t count) {
  ByteStream stream(path);
  if (!stream.is_gzip()) return ReadEnd(path, count);
  std::string before, last(count, '\0');
  std::size_t got = count;
  while (got == count) {
    before.swap(last);
    last.resize(count);
    got = stream.Read(last.data(), count);
  }
  before += last.substr(0, got);
  return before.size() > count ? before.substr(before.size() - count) : before;
}

}  // namespace mpa::io
