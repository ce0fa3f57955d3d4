// SPDX-License-Identifier: Apache-2.0
#include "fuzz/broken_capture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

#include "mpa/base/error.h"
#include "mpa/raw/session.h"
#include "support/raw_session_checks.h"

namespace mpa::test {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostFiles = 256;  // one byte tells which

[[noreturn]] void Die(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::abort();
}

std::string Content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void Write(const fs::path& file, std::string_view content) {
  std::ofstream(file, std::ios::binary)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
}

// Memory where the system has a directory there: every input is written to a file.
fs::path Scratch() {
  const fs::path memory = "/dev/shm";
  std::error_code error;
  return (fs::is_directory(memory, error) ? memory : fs::temp_directory_path()) /
         fmt::format("mpa_fuzz_{}", getpid());
}

}  // namespace

BrokenCapture::BrokenCapture(const std::function<bool(const std::string&)>& belongs)
    : scratch_(Scratch()) {
  for (const char* name : {"stars", "hwts"}) {
    const fs::path source = fs::path(MPA_GENERATED_CAPTURES) / name;
    if (!fs::is_directory(source)) Die("no captures, make them with: ctest -R raw.make_captures");
    fs::create_directories(scratch_);
    fs::copy(source, scratch_ / name, fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(scratch_ / name)) {
      if (!entry.is_regular_file() || entry.path().extension() == ".done") continue;
      const fs::path below = fs::relative(entry.path(), scratch_ / name);
      const fs::path capture = *below.begin();  // truth.json is none
      const std::string path = fs::relative(below, capture).string();
      if (below == capture || !belongs(path)) continue;
      files_.push_back({scratch_ / name / capture, entry.path(), Content(entry.path())});
    }
  }
  std::sort(files_.begin(), files_.end(),
            [](const File& a, const File& b) { return a.path < b.path; });
  if (files_.empty() || files_.size() > kMostFiles) Die("no files to break, or too many");
  if (const char* seeds = std::getenv("MPA_FUZZ_WRITE_SEEDS")) {
    WriteSeeds(seeds);
    fs::remove_all(scratch_);
    std::_Exit(0);
  }
}

BrokenCapture::~BrokenCapture() {
  std::error_code error;
  fs::remove_all(scratch_, error);
}

void BrokenCapture::Read(const std::uint8_t* data, std::size_t size) const {
  if (size == 0) return;
  const File& file = files_[data[0] % files_.size()];
  Write(file.path, std::string(data + 1, data + size));
  try {
    const std::string breach = BrokenPromise(raw::ReadSession(file.capture, raw::Parts::kAll));
    if (!breach.empty()) Die(breach);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal) Die(error.what());
  }
  Write(file.path, file.whole);
}

void BrokenCapture::WriteSeeds(const fs::path& directory) const {
  fs::create_directories(directory);
  for (std::size_t i = 0; i < files_.size(); ++i)
    Write(directory / fmt::format("{}_{}", i, files_[i].path.filename().string()),
          static_cast<char>(i) + files_[i].whole);
}

}  // namespace mpa::test
