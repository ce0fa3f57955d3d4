// SPDX-License-Identifier: Apache-2.0
#include "raw/raw_captures.h"

#include <algorithm>
#include <fstream>

namespace mpa::test {

namespace fs = std::filesystem;

namespace {

std::vector<PlantedCapture> CapturesOf(const fs::path& data, const fs::path& parsed) {
  std::vector<PlantedCapture> captures;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(data, error)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with("truth")) continue;
    PlantedCapture capture;
    capture.truth = nlohmann::json::parse(std::ifstream(entry.path()));
    const auto directory = capture.truth.at("capture").get<std::string>();
    capture.path = entry.path().parent_path() / directory;
    capture.parsed = parsed / directory / "ASCEND_PROFILER_OUTPUT";
    captures.push_back(std::move(capture));
  }
  std::sort(captures.begin(), captures.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return captures;
}

}  // namespace

std::vector<PlantedCapture> SharedRawCaptures(const std::string& name) {
  const fs::path shared = fs::path(MPA_SOURCE_DIR).parent_path() / "shared";
  return CapturesOf(shared / "data" / "raw" / name, shared / "golden" / "raw" / name);
}

std::vector<PlantedCapture> GeneratedRawCaptures(const std::string& name) {
  return CapturesOf(fs::path(MPA_GENERATED_CAPTURES) / name, fs::path());
}

}  // namespace mpa::test
