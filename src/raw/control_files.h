// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
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

/// What the samples of the host are measured by; 0: not known.
struct HostSetup {
  std::int64_t processors = 0;
  std::int64_t ticks_per_second = 0;  ///< in which the kernel counts their time
  std::int64_t memory_kb = 0;
  std::int64_t disk_hertz = 0;  ///< samples of disks per second
  /// Bytes per second in one direction, by network card.
  std::map<std::string, double, std::less<>> cards;
};

/// The data needed to read the records, in addition to SessionInfo.
struct ControlFiles {
  bool has_host = false;
  Side host;
  HostSetup host_setup;
  std::vector<Side> devices;  ///< one for each of SessionInfo.devices
  FrameworkClock framework_clock;
};

/// The PROF_* directories of a capture, under any name; the capture itself if it is one.
std::vector<std::filesystem::path> DriverDirectories(const std::filesystem::path& path);

/// Reads the control files of the capture in `path`, of which `prof` is a PROF_* directory or
/// empty, and fills `info`. Missing or damaged data is counted, and taken from other files that
/// contain it too. Throws Error (kInput) when there is neither PROF_* nor FRAMEWORK, (kCorrupt)
/// when a PROF_* alone has no file with the wall clock.
ControlFiles ReadControlFiles(const std::filesystem::path& path, const std::filesystem::path& prof,
                              SessionInfo& info, Issues& issues);

/// What the profiler recorded between a start and a stop: a PROF_* directory.
struct Collection {
  SessionInfo info;
  ControlFiles files;
};

/// The collections of a capture that belong together, in order of time: of one process and its
/// devices, one after the other. Others are counted. The first has FRAMEWORK, too, and the clock of
/// FRAMEWORK goes by all of them. Throws as ReadControlFiles().
std::vector<Collection> ReadCollections(const std::filesystem::path& path, Issues& issues);

}  // namespace mpa::raw
