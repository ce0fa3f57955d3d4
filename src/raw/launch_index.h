// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "device_tasks.h"
#include "host_records.h"
#include "mpa/base/time.h"

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

}  // namespace mpa::raw
