// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/measure/device_items.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// Device work, or a wait of a stream for an event, with what is known of its launch.
struct GraphItem {
  DeviceItem work;
  bool waits = false;        ///< for an event
  TimeNs launched = -1;      ///< when the host asked for it, in host time; -1: unknown
  std::int32_t launch = -1;  ///< position in GraphItems::launches
  bool IsOperation() const { return work.table == PieceTable::kCommunications; }
};

/// A call that launched device work.
struct GraphLaunch {
  TimeNs begin = 0;
  std::int32_t track = -1;
  std::int32_t queued = -1;  ///< row of the queued work that made the call; -1: none did
  bool is_call = true;       ///< false: only the operator is known that asked for it
};

struct GraphItems {
  std::vector<GraphItem> items;  ///< in order of begin
  std::vector<GraphLaunch> launches;
};

/// `host_offset`: how far the host's clock is ahead of the device's.
GraphItems FindGraphItems(const RankTrace& trace, TimeNs host_offset);

}  // namespace mpa
