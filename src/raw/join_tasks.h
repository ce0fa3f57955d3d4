// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "control_files.h"
#include "device_tasks.h"
#include "host_records.h"
#include "host_side.h"
#include "mpa/base/time.h"
#include "mpa/model/issues.h"
#include "mpa/raw/session.h"
#include "mpa/raw/task_tables.h"

namespace mpa::raw {

/// Identifies a task on all devices. The ids of V6 (`wide`) are unique on their device.
std::uint64_t TaskKey(std::uint64_t device, std::uint32_t stream, std::uint16_t batch,
                      std::uint32_t task, bool wide);

/// The launches of the host by task.
class LaunchIndex {
 public:
  /// Refers to the launches, which must outlive it and be in order of time.
  LaunchIndex(const std::vector<HostTask>& launches, bool wide);

  /// The last launch before the task began: a launch may run several times (graphs), and several
  /// tasks have one key if wraps of the ids were not recorded. -1: none.
  std::int32_t Find(std::uint64_t device, const DeviceTask& task, TimeNs start) const;
  /// The time at which the task was launched, if only one launch is possible; else -1.
  TimeNs OnlyTime(std::uint64_t device, const DeviceTask& task) const;

 private:
  using Entry = std::pair<std::uint64_t, std::int32_t>;
  const std::vector<HostTask>& launches_;
  bool wide_;
  std::vector<Entry> entries_;
};

/// Counts the tasks of a device that no record of the host launched. Tasks before the first
/// launched one on each stream are ignored: they were launched before the collection. Streams of
/// graphs that were loaded earlier are ignored for the same reason.
class PartnerCount {
 public:
  explicit PartnerCount(const Device& device) : device_(device) {}

  void Add(const DeviceTask& task, const Tasks::Row& row, bool has_partner);
  void Tell(const HostSide& host, const DeviceLog& log, Issues& issues) const;

 private:
  struct Stream {
    TimeNs first_launched = -1;
    std::vector<TimeNs> lonely;  // starts of tasks without a partner
  };
  const Device& device_;
  std::size_t tasks_ = 0;
  std::unordered_map<std::uint32_t, Stream> streams_;
};

/// Compares the times of a device's tasks with those of their launches and of the collection. If
/// the control files lack the device's counter at the anchor, or contain an impossible one, the
/// clock is estimated so that no task begins before its launch, and this is counted.
void CheckDeviceClock(const LaunchIndex& launches, std::int64_t device,
                      const std::vector<DeviceTask>& tasks, Side& side, Issues& issues);

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
