// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/measure/device_work.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// Work of the device with what on the host brought it there. Rows are -1 where the capture does
/// not say.
struct Dispatch {
  DeviceWork work;
  std::int64_t op = -1;    ///< row of the host operators: the innermost that launched the work
  std::int64_t call = -1;  ///< row of the host calls: the one that handed it to the device

  TimeNs End() const { return work.start + work.dur; }
};

/// All work of the device in order of start. Needs the tables of FindDeviceWork(), host calls and
/// device runs.
std::vector<Dispatch> FindDispatches(const RankTrace& trace);

}  // namespace mpa
