// SPDX-License-Identifier: Apache-2.0
#include "mpa/raw/session.h"

#include "mpa/base/error.h"

namespace mpa::raw {

Session ReadSession(const std::filesystem::path& path, Parts) {
  Fail(ErrorKind::kInternal, "{}: not yet", path.string());
}

std::int32_t StepOfDeviceTime(const Session& session, TimeNs start) {
  const Steps& steps = session.steps;
  for (std::size_t i = 0; i < steps.Size(); ++i) {
    if (steps.device_start[i] >= 0 && start >= steps.device_start[i] &&
        start <= steps.device_end[i]) {
      return static_cast<std::int32_t>(i);
    }
  }
  return -1;
}

}  // namespace mpa::raw
