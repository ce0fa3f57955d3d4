// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "control_files.h"
#include "device_tasks.h"
#include "host_side.h"

namespace mpa::raw {

/// For each row of Session.tasks its record in HostSide.tasks; -1: none. Lives while the capture is
/// read.
struct TaskOrigins {
  std::vector<std::int32_t> host_task;
};

/// Fills session.tasks from the logs of its devices (one for each of session.info.devices) and
/// joins them with the host records that launched them. Tasks that ended before the collection
/// began on their device are left out. `kind` and `detail` are set later. Clocks of devices that do
/// not suit the launches are estimated.
TaskOrigins JoinTasks(ControlFiles& files, const std::vector<DeviceLog>& logs, const HostSide& host,
                      Dictionary& dictionary, Session& session);

}  // namespace mpa::raw
