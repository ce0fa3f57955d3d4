// SPDX-License-Identifier: Apache-2.0
#include "monotonic_clock.h"

#include <string>
#include <system_error>

#include "mpa/base/log.h"
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

void WarnOfUnknownClock(const fs::path& path) {
  LogWarning(
      "{}: not used, the clock of the capture is unknown: neither start_info of PROF_* nor"
      " profiler_info says it; keep PROF_*/host beside the results",
      path.string());
}

}  // namespace mpa::readers
