// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/measure/intervals.h"
#include "mpa/model/rank_trace.h"

/// What counters of the hardware say of a rank's steps.
namespace mpa {

/// A link that moved as much as it can while nothing but communication ran.
struct FullLink {
  std::string name;    ///< "RoCE port 0 rx"
  double rate = 0;     ///< bytes per second in that time, on average
  double limit = -1;   ///< that the capture states; -1: none, it stayed at the most that it moved
  TimeNs start = 0;    ///< of the longest such stretch
  TimeNs longest = 0;  ///< how long that is
  TimeNs time = 0;     ///< of all
  TimeNs exposed = 0;  ///< communication meanwhile that no computing hides
};

/// True where the capture has counters of links.
bool CountsLinks(const RankTrace& trace);

/// Links in `steps`, by name. Needs counters, and what ActivitiesOf() needs.
std::vector<FullLink> FullLinksOf(const RankTrace& trace, const Interval& steps);

/// What a part of CANN reserved, as the device told at both ends of the steps. Bytes.
struct ComponentMemory {
  std::string name;  ///< "HCCL"
  std::int64_t first = 0, last = 0;
};

/// What the device reported about its memory: of the process by time, and the most that other
/// processes and the system held.
struct DeviceMemoryTold {
  struct Level {
    TimeNs time = 0;
    std::int64_t bytes = 0;
  };
  std::vector<Level> process;  ///< in order of time
  std::int64_t others = -1;    ///< -1: not told
  std::vector<ComponentMemory> components;

  /// -1 before the first.
  std::int64_t ProcessAt(TimeNs time) const;
};
DeviceMemoryTold DeviceMemoryOf(const RankTrace& trace, const Interval& steps);

}  // namespace mpa
