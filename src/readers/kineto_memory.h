// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/rank_trace.h"
#include "trace_events.h"

/// The memory of devices in Kineto traces: events "[memory]", one for each allocation and release.
namespace mpa::readers {

/// Of events of traces from 2021.
inline constexpr std::int64_t kNoAddress = -1;

/// An allocation, or a release when `bytes` is negative.
struct MemoryEvent {
  TimeNs time = 0;
  std::int64_t bytes = 0, address = kNoAddress;
};

/// Appends what the event says of memory in all to the samples of `part`, and the allocation or
/// release to `events`. Memory of the host is left out; an invalid size is counted as an issue of
/// the file.
void ReadMemoryEvent(const TraceEvent& event, std::string_view file, RankTrace& part,
                     std::vector<MemoryEvent>& events);

/// The allocations in a list of allocations and releases. An address that is allocated again before
/// it was released keeps no release, as one without an address. If a release has another size, its
/// time is uncertain and the allocation is left out.
void AppendAllocations(std::vector<MemoryEvent> events, Allocations& allocations);

}  // namespace mpa::readers
