// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mpa/raw/session.h"

namespace mpa::raw {

/// One row of operator_memory.csv: the life of an allocation. Times in ns, sizes in bytes; -1: it
/// was not given back while the capture ran.
struct AllocationLife {
  StringId name{};    ///< in the strings of the session; empty: unknown
  bool cann = false;  ///< of an operator of CANN: named "cann::<name>", without active numbers
  std::int64_t bytes = 0;
  TimeNs allocated = -1, released = -1, active_released = -1;
  std::int64_t allocated_total = -1, reserved_total = -1, active_total = -1;  ///< when allocated
  std::int64_t released_total = -1, released_reserved = -1, released_active = -1;
  std::uint64_t stream = 0;
  std::int64_t device = 0;
};

/// In the order of the profiler's table.
std::vector<AllocationLife> AllocationLives(const Session& session);

/// One row of memory_record.csv. Sizes in bytes, -1: empty cell.
struct MemoryRecord {
  std::string_view component;  ///< PTA, GE, PTA+GE, WORKSPACE, APP, or a module of CANN
  TimeNs time = -1;
  std::int64_t allocated = -1, reserved = -1, active = -1;
  std::uint64_t stream = 0;
  bool has_stream = false;
  std::int64_t device = 0;
};

/// In the order of the profiler's table.
std::vector<MemoryRecord> MemoryRecords(const Session& session);

}  // namespace mpa::raw
