// SPDX-License-Identifier: Apache-2.0
// Records and dictionaries of the host: PROF_*/host/data.
#include "fuzz/broken_capture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const mpa::test::BrokenCapture capture(
      [](const std::string& path) { return path.find("/host/data/") != std::string::npos; });
  capture.Read(data, size);
  return 0;
}
