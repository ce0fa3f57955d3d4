// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "clock.h"
#include "mpa/model/issues.h"
#include "mpa/raw/session.h"

namespace mpa::raw {

/// host/ or device_<N>/ of a PROF_* directory, as described by its control files.
struct Side {
  std::filesystem::path data;  ///< its directory of records
  Clock clock;
  TimeNs begin = -1, end = -1;  ///< of the collection; -1: not known
  std::int64_t driver = 0;      ///< drvVersion
  bool task_based = true;       ///< counters per task, not per interval of time
  /// Of a device: the control files do not contain its counter at the anchor.
  bool device_count_unknown = false;
};

/// The data needed to read the records, in addition to SessionInfo.
struct ControlFiles {
  bool has_host = false;
  Side host;
  std::vector<Side> devices;  ///< one for each of SessionInfo.devices
  FrameworkClock framework_clock;
};

/// Reads the control files of the capture in `path` and fills `info`. Missing or damaged data is
/// counted, and taken from other files that contain it too. Throws Error (kInput) when there is
/// neither PROF_* nor FRAMEWORK, (kCorrupt) when a PROF_* alone has no file with the wall clock.
ControlFiles ReadControlFiles(const std::filesystem::path& path, SessionInfo& info, Issues& issues);

}  // namespace mpa::raw
