// SPDX-License-Identifier: Apache-2.0
// Records and dictionaries of the host: PROF_*/host/data.
#include "fuzz/broken_capture.h"

namespace mpa::test {

std::vector<Target> Targets() {
  return BrokenCaptures(
      [](const std::string& path) { return path.find("/host/data/") != std::string::npos; });
}

}  // namespace mpa::test
