// SPDX-License-Identifier: Apache-2.0
// Records of the device: PROF_*/device_N/data.
#include "fuzz/broken_capture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const mpa::test::BrokenCapture capture(
      [](const std::string& path) { return path.find("/device_0/data/") != std::string::npos; });
  capture.Read(data, size);
  return 0;
}
