// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "control_files.h"
#include "launch_index.h"
#include "mpa/model/issues.h"

namespace mpa::raw {

/// Compares the times of a device's tasks with those of their launches and of the collection. If
/// the control files lack the device's counter at the anchor, or contain an impossible one, the
/// clock is estimated so that no task begins before its launch, and this is counted.
void CheckDeviceClock(const LaunchIndex& launches, std::int64_t device,
                      const std::vector<DeviceTask>& tasks, Side& side, Issues& issues);

}  // namespace mpa::raw
