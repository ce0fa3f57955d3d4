// SPDX-License-Identifier: Apache-2.0
// The small files that tell of chip, clocks and settings.
#include "fuzz/broken_capture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const mpa::test::BrokenCapture capture([](const std::string& path) {
    return !path.starts_with("FRAMEWORK/") && path.find("/data/") == std::string::npos;
  });
  capture.Read(data, size);
  return 0;
}
