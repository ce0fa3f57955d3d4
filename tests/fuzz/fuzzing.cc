// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzzing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <utility>

#include "mpa/base/log.h"
#include "mpa/base/parallel.h"
#include "support/files.h"

namespace mpa::test {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxTargets = 256;  // one byte tells which

fs::path ScratchPath() {
  const fs::path memory = "/dev/shm";
  std::error_code error;
  return (fs::is_directory(memory, error) ? memory : fs::temp_directory_path()) /
         fmt::format("mpa_fuzz_{}", getpid());
}

void WriteFile(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
}

}  // namespace

void Die(std::string_view why) {
  fmt::print(stderr, "{}\n", why);
  std::abort();
}

bool Try(std::string_view place, const std::function<void()>& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    const std::string_view text = error.what();
    if (error.kind() == ErrorKind::kInternal) Die(fmt::format("a bug: {}", text));
    if (text.empty() || text.find(place) == std::string_view::npos) {
      Die(fmt::format("an error does not name {}: {}", place, text));
    }
  } catch (const std::exception& error) {
    Die(fmt::format("no Error but another exception: {}", error.what()));
  }
  return false;
}

Scratch::Scratch() : path_(ScratchPath()) {}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path Scratch::Write(std::string_view name, std::string_view content) const {
  fs::path path = path_ / name;
  fs::create_directories(path.parent_path());
  WriteFile(path, content);
  return path;
}

std::string Captured(std::string_view name) {
  const fs::path path = fs::path(MPA_TESTDATA) / "captures" / name;
  std::string content = ReadAll(path);
  if (content.empty()) Die(fmt::format("no file {}", path.string()));
  return content;
}

namespace {

std::vector<Target> CheckedTargets() {
  SetLogLevel(LogLevel::kError);
  SetJobs(1);  // for inputs this small threads cost more than they do
  std::vector<Target> targets = Targets();
  if (targets.empty() || targets.size() > kMaxTargets) Die("no targets, or too many");
  return targets;
}

void WriteSeeds(const std::vector<Target>& targets, const fs::path& directory) {
  fs::create_directories(directory);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::string prefix = targets.size() == 1 ? "" : std::string(1, static_cast<char>(i));
    for (std::size_t k = 0; k < targets[i].seeds.size(); ++k) {
      WriteFile(directory / fmt::format("{}_{}_{}", i, targets[i].name, k),
                prefix + targets[i].seeds[k]);
    }
  }
}

}  // namespace
}  // namespace mpa::test

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* directory = std::getenv("MPA_FUZZ_WRITE_SEEDS");
  if (directory == nullptr) return 0;
  mpa::test::WriteSeeds(mpa::test::CheckedTargets(), directory);
  std::error_code ignored;
  mpa::test::fs::remove_all(mpa::test::ScratchPath(), ignored);
  std::_Exit(0);  // libFuzzer takes any other exit for a finding
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<mpa::test::Target> targets = mpa::test::CheckedTargets();
  const std::string input(data, data + size);
  if (targets.size() == 1) {
    targets[0].run(input);
  } else if (size > 0) {
    targets[data[0] % targets.size()].run(std::string_view(input).substr(1));
  }
  return 0;
}
