// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/measure/device_items.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// A kernel or an operation of communication with what on the host brought it to the device. Rows
/// are -1 where the capture does not say.
struct Dispatch {
  DeviceItem work;
  std::int64_t op = -1;    ///< row of the host operators: the innermost that launched the work
  std::int64_t call = -1;  ///< row of the host calls: the one that handed it to the device
};

/// In order of start. Needs the tables of FindDeviceItems(), host calls and launches.
std::vector<Dispatch> FindDispatches(const RankTrace& trace);

}  // namespace mpa
