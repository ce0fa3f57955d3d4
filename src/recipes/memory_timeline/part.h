// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lives.h"
#include "mpa/recipe/make_recipe.h"
#include "replay.h"

/// The memory of one rank: the part of the recipe.
namespace mpa::memory_timeline {

/// Allocations of one holder.
struct Held {
  Holder holder;
  std::int64_t count = 0, bytes = 0;
};

/// Allocations of one holder that outlived the step behind theirs, in several steps.
struct Leak {
  Holder holder;
  std::int64_t steps = 0;             ///< that left some
  std::int64_t count = 0, bytes = 0;  ///< of all these steps
  std::int64_t still_held = 0;        ///< bytes, at the end of the capture
  std::int32_t first_step = -1, last_step = -1;
};

struct RankMemory {
  std::int64_t allocations = 0;  ///< that are listed
  bool lacks_addresses = false;  ///< which allocation a release ends is not known; nothing follows
  bool has_totals = false;       ///< the allocators reported what is allocated
  TimeNs begin = 0, end = 0;
  std::optional<Level> peak;    ///< empty: nothing was recorded
  std::int32_t peak_step = -1;  ///< -1: in none
  std::vector<Held> holders;    ///< of the peak, most bytes first; they add up to it
  std::int64_t most_recorded = -1, most_reserved = -1;  ///< as the allocators reported; -1: did not
  /// What the listed allocations have beyond the totals at the end: their release was lost.
  std::int64_t beyond_totals = 0;
  std::vector<StepMemory> steps;
  std::vector<Leak> leaks;  ///< most bytes first
  std::vector<Level> points;
  std::vector<Event> events;
  bool packed = false;   ///< the files of this rank are packed with gzip
  bool written = false;  ///< the events were taken out, into files

  /// The usual growth from step to step; empty with less than three steps.
  std::optional<std::int64_t> GrowthPerStep() const;
};

using Ranks = std::vector<OfRank<RankMemory>>;

inline constexpr Tables kMemoryTables =
    Tables::kAllocations | Tables::kMemorySamples | Tables::kHostOps | Tables::kOpStacks |
    Tables::kPythonCalls | Tables::kBackwardLinks | Tables::kQueuedWork | Tables::kLaunches |
    Tables::kKernels | Tables::kDeviceTasks | Tables::kCommunications | Tables::kCommTasks |
    Tables::kSteps;

/// With `step` of that step alone; the categories always come from the whole capture.
RankMemory MemoryOf(const RankTrace& trace, std::optional<std::int32_t> step);

}  // namespace mpa::memory_timeline
