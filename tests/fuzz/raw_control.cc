// SPDX-License-Identifier: Apache-2.0
// The small files that tell of chip, clocks and settings.
#include "fuzz/broken_capture.h"

namespace mpa::test {

std::vector<Target> Targets() {
  return BrokenCaptures([](const std::string& path) {
    return !path.starts_with("FRAMEWORK/") && path.find("/data/") == std::string::npos;
  });
}

}  // namespace mpa::test
