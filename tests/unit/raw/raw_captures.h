// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mpa::test {

/// One rank of a raw capture with planted truth, see README.md of those captures.
struct PlantedCapture {
  std::filesystem::path path;  ///< the *_ascend_pt directory
  nlohmann::json truth;
  /// What the profiler's own parser made of it; may not be there.
  std::filesystem::path parsed;
};

/// The ranks of a case beside the project (../shared/data/raw/<name>), in order; empty when the
/// folder is not there: the test skips then.
std::vector<PlantedCapture> SharedRawCaptures(const std::string& name);

/// The ranks of a case that testdata/make_raw_captures.py wrote into the build directory; empty
/// when it did not run: ctest runs it before the tests.
std::vector<PlantedCapture> GeneratedRawCaptures(const std::string& name);

/// A member of a planted item.
inline std::int64_t Int(const nlohmann::json& item, const char* key) {
  return item.at(key).get<std::int64_t>();
}
inline std::string Str(const nlohmann::json& item, const char* key) {
  return item.at(key).get<std::string>();
}

}  // namespace mpa::test

/// Ends a test that needs the captures beside the project where they are missing.
#define MPA_SKIP_WITHOUT(captures) \
  if ((captures).empty()) GTEST_SKIP() << "no raw captures beside the project"

/// Ends a test that needs generated captures where they were not made.
#define MPA_NEED_GENERATED(captures) \
  ASSERT_FALSE((captures).empty()) << "ctest makes the captures: ctest -R raw.make_captures"
