// SPDX-License-Identifier: Apache-2.0
#include "monotonic_clock.h"

#include <string>
#include <system_error>

#include "mpa/raw/host_clock.h"

namespace mpa::readers {
namespace {

namespace fs = std::filesystem;

fs::path CaptureOf(const RankTrace& trace) {
  fs::path path = trace.capture_path;
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) path = path.parent_path();
  const std::string name = path.filename().string();
  const bool is_output = name == "ASCEND_PROFILER_OUTPUT" || name == "mindstudio_profiler_output";
  return is_output ? path.parent_path() : path;
}

}  // namespace

std::optional<TimeNs> MonotonicToEpoch(const RankTrace& trace, const fs::path& path) {
  if (const auto offset = raw::MonotonicToEpoch(CaptureOf(trace))) return offset;
  return raw::MonotonicToEpoch(path.parent_path());
}

}  // namespace mpa::readers
