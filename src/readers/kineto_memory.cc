// SPDX-License-Identifier: Apache-2.0
#include "kineto_memory.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include "mpa/io/numbers.h"
#include "mpa/measure/memory_copies.h"

namespace mpa::readers {

void ReadMemoryEvent(const TraceEvent& event, std::string_view file, RankTrace& part,
                     std::vector<MemoryEvent>& events) {
  constexpr std::int64_t kNoSize = std::numeric_limits<std::int64_t>::max();
  std::int64_t device = -1;
  std::int64_t reserved = 0, allocated = -1;
  MemoryEvent memory;
  for (const EventArg& arg : event.args) {
    if (Is(arg.key, "Device Id")) device = io::ParseInt(arg.value).value_or(-1);
    if (Is(arg.key, "Total Reserved")) reserved = io::ScaledDecimal(arg.value, 0).value_or(kNoSize);
    if (Is(arg.key, "Total Allocated")) allocated = io::ScaledDecimal(arg.value, 0).value_or(-1);
    if (Is(arg.key, "Bytes")) memory.bytes = io::ScaledDecimal(arg.value, 0).value_or(kNoSize);
    if (Is(arg.key, "Addr")) memory.address = IdFrom(arg.value);
  }
  const auto time = io::NsFromMicros(event.ts);
  if (device < 0 || !time) return;
  memory.time = *time;
  if (!IsSize(reserved) || !IsSize(memory.bytes < 0 ? -(memory.bytes + 1) : memory.bytes)) {
    part.issues.Count("memory event left out, invalid size", file);
    return;
  }
  part.memory_samples.Append({.time = *time,
                              .reserved_bytes = reserved,
                              .allocated_bytes = IsSize(allocated) ? allocated : -1});
  events.push_back(memory);
  if (memory.address == kNoAddress) part.lacks_addresses = true;
}

void AppendAllocations(std::vector<MemoryEvent> events, Allocations& allocations) {
  std::ranges::stable_sort(events, {}, &MemoryEvent::time);
  const auto append = [&](const MemoryEvent& event, TimeNs released) {
    allocations.Append({.bytes = event.bytes, .allocated = event.time, .released = released});
  };
  std::vector<std::optional<MemoryEvent>> open;  // in order of allocation
  std::unordered_map<std::int64_t, std::size_t> open_at;
  for (const MemoryEvent& event : events) {
    const auto found = open_at.find(event.address);
    if (event.address == kNoAddress) {
      if (event.bytes > 0) append(event, -1);
    } else if (event.bytes > 0) {
      if (found != open_at.end()) {
        append(*open[found->second], -1);
        open[found->second] = event;
      } else {
        open_at[event.address] = open.size();
        open.emplace_back(event);
      }
    } else if (found != open_at.end()) {
      if (open[found->second]->bytes == -event.bytes) append(*open[found->second], event.time);
      open[found->second].reset();
      open_at.erase(found);
    }
  }
  for (const auto& event : open) {
    if (event) append(*event, -1);
  }
}

}  // namespace mpa::readers
