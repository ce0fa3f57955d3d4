// SPDX-License-Identifier: Apache-2.0
// Text files that may be packed.
#include "mpa/io/packed_file.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "mpa/base/error.h"

namespace mpa::io {

struct PackedFile::State {
  std::filesystem::path path;
  gzFile file = nullptr;

  [[noreturn]] void FailWrite() const {
    Fail(ErrorKind::kOutput, "{}: {}", path.filename().string(),
         errno != 0 ? std::strerror(errno) : "cannot be written");
  }
};

PackedFile::PackedFile(std::filesystem::path path, bool packed)
    : state_(std::make_unique<State>(State{std::move(path), nullptr})) {
  // Level 4 takes half of the time of the usual one, and a tenth more room. "T" writes text as it
  // is.
  errno = 0;
  state_->file = gzopen(state_->path.c_str(), packed ? "wb4" : "wbT");
  if (state_->file == nullptr) state_->FailWrite();
  constexpr unsigned kBuffer = 1u << 18;
  (void)gzbuffer(state_->file, kBuffer);
}

PackedFile::~PackedFile() {
  if (state_->file != nullptr) (void)gzclose(state_->file);
}

void PackedFile::Write(std::string_view text) {
  constexpr std::size_t kMax = 1u << 30;  // the library counts in 32 bits
  errno = 0;
  while (!text.empty()) {
    const std::size_t size = std::min(text.size(), kMax);
    if (gzwrite(state_->file, text.data(), static_cast<unsigned>(size)) <= 0) state_->FailWrite();
    text.remove_prefix(size);
  }
}

void PackedFile::Close() {
  errno = 0;
  if (gzclose(std::exchange(state_->file, nullptr)) != Z_OK) state_->FailWrite();
}

}  // namespace mpa::io
