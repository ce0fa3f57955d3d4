// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "device_tasks.h"
#include "host_side.h"
#include "mpa/model/issues.h"
#include "mpa/raw/session.h"
#include "mpa/raw/task_tables.h"

namespace mpa::raw {

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

}  // namespace mpa::raw
