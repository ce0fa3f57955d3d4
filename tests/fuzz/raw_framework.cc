// SPDX-License-Identifier: Apache-2.0
// What the framework recorded: FRAMEWORK.
#include "fuzz/broken_capture.h"

namespace mpa::test {

std::vector<Target> Targets() {
  return BrokenCaptures([](const std::string& path) { return path.starts_with("FRAMEWORK/"); });
}

}  // namespace mpa::test
