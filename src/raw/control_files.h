// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "clock.h"
#include "framework_clock.h"
#include "mpa/model/issues.h"
#include "mpa/raw/session.h"

namespace mpa::raw {

/// host/ or device_<N>/ of a PROF_* directory, as its control files describe it.
struct Side {
  std::filesystem::path data;  ///< its directory of records
  Clock clock;
  TimeNs begin = -1, end = -1;  ///< of the collection; -1: not known
  std::int64_t driver = 0;      ///< drvVersion
  bool task_based = true;       ///< counters per task, not per interval of time
};

/// What is needed to read the records, beside SessionInfo.
struct ControlFiles {
  bool has_host = false;
  Side host;
  std::vector<Side> devices;  ///< one for each of SessionInfo.devices
  FrameworkClock framework_clock;
};

/// Reads the control files of the capture in `path` and fills `info`. Devices without clocks are
/// left out and counted. Throws Error (kInput) when there is neither PROF_* nor FRAMEWORK.
ControlFiles ReadControlFiles(const std::filesystem::path& path, SessionInfo& info, Issues& issues);

}  // namespace mpa::raw
