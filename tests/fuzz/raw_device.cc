// SPDX-License-Identifier: Apache-2.0
// Records of the device: PROF_*/device_N/data.
#include "fuzz/broken_capture.h"

namespace mpa::test {

std::vector<Target> Targets() {
  return BrokenCaptures(
      [](const std::string& path) { return path.find("/device_0/data/") != std::string::npos; });
}

}  // namespace mpa::test
