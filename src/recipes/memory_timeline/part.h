// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lives.h"
#include "mpa/base/time.h"
#include "mpa/measure/allocator_replay.h"
#include "mpa/measure/memory_totals.h"
#include "mpa/model/rank_trace.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/report.h"

/// The memory of one rank: the part of the recipe.
namespace mpa::recipes::memory_timeline {

// The memory of a rank over time: its allocations and releases replayed, and the totals that the
// allocators reported.

/// Memory that is taken (bytes above 0) or given back.
struct Event {
  TimeNs time = -1;  ///< -1: it was held before all of this
  std::int64_t bytes = 0;
  Category category{};
};

/// What is held at a time.
struct Level {
  TimeNs time = 0;
  std::array<std::int64_t, kCategories> bytes{};
  std::int64_t reserved = -1;  ///< by the allocators; -1: not recorded

  std::int64_t Allocated() const;
  std::int64_t Of(Category category) const { return bytes[static_cast<std::size_t>(category)]; }
};

/// A step, or the whole capture without steps.
struct StepMemory {
  std::int32_t id = -1;
  TimeNs begin = 0, end = 0;
  std::int64_t at_begin = 0, peak = 0, at_end = 0;  ///< bytes allocated
  TimeNs peak_time = 0;

  std::int64_t Growth() const { return at_end - at_begin; }
};

struct Window {
  TimeNs begin = 0, end = 0;
};

/// All events, in order of time: those of the allocations, and what the totals have beyond them.
///
/// At the first total that is memory from before the capture. It can only shrink: later dips of the
/// difference that end again are releases which were stamped behind the total that lacks them.
/// What the totals gain in addition is memory that is not listed, and unknown. Of the memory from
/// before the capture that which the framework listed has its category.
std::vector<Event> EventsOf(const RankTrace& trace, const std::vector<Life>& lives,
                            const MemoryTotals& totals);

/// Divides what was allocated before the capture and never released by what it is likely to be,
/// where the framework listed nothing: parameters as large as the gradients that the capture shows,
/// states by the optimizer, gradients in the buckets of data parallel training.
void EstimateBefore(const RankTrace& trace, std::vector<Event>& events);

/// Those within the window; what is held at its begin becomes one event of each category.
std::vector<Event> CutTo(const Window& window, const std::vector<Event>& events);

/// How many bytes are allocated from each time on. Times differ.
struct Curve {
  std::vector<TimeNs> times;
  std::vector<std::int64_t> bytes;

  /// 0 before the first time.
  std::int64_t At(TimeNs time) const;
  /// The position of the first most bytes within the window; empty: there is no change in it.
  std::optional<std::size_t> PeakWithin(const Window& window) const;
};
/// What is held before all starts at `begin`.
Curve CurveOf(const std::vector<Event>& events, TimeNs begin);

/// The levels at these positions of the curve, which are in order.
std::vector<Level> LevelsAt(const std::vector<std::size_t>& positions, const Curve& curve,
                            const std::vector<Event>& events, const MemoryTotals& totals);

/// At most so many positions: of equal parts of the time the one with most bytes.
std::vector<std::size_t> Thinned(const Curve& curve, std::size_t most);

/// Allocations of one holder.
struct Held {
  Holder holder;
  std::int64_t count = 0, bytes = 0;
};

/// What the large allocations of one holder take over time.
struct Band {
  Holder holder;
  std::vector<std::int64_t> bytes;  ///< at each of RankMemory::points
};

/// Allocations of one holder that outlived the step behind theirs, in several steps.
struct Leak {
  Holder holder;
  std::int64_t steps = 0;             ///< that left some
  std::int64_t count = 0, bytes = 0;  ///< of all these steps
  std::int64_t still_held = 0;        ///< bytes, at the end of the capture
  std::int32_t first_step = -1, last_step = -1;
};

/// What a call site still holds in the end of a snapshot.
struct Kept {
  Holder holder{};
  std::int64_t count = 0, bytes = 0;
  std::int64_t oldest = -1, newest = -1;  ///< actions; -1: before the history
  TimeNs oldest_age = -1;                 ///< at the end; -1: unknown
  bool grows = false;                     ///< it takes more again and again, and returns nothing
};

/// An allocation that failed, with the call that asked.
struct Failure {
  OutOfMemory memory{};
  Holder holder{};
};

/// The allocator of one device in one snapshot. Times are the numbers of its actions, from 0; -1 is
/// before them.
struct SnapshotMemory {
  std::string file{};
  std::int64_t device = -1;
  std::string settings{};       ///< of the allocator; empty: not recorded
  std::int64_t actions = 0;     ///< of the history that was kept
  TimeNs begin = -1, end = -1;  ///< of the history; -1: times were not recorded
  std::int64_t before = 0;      ///< bytes that were held before it
  HeldAtEnd held{};
  Level peak{};
  TimeNs peak_time = -1;
  std::int64_t most_reserved = 0;
  std::vector<Held> holders{};  ///< of the peak, most bytes first; they add up to it
  std::vector<Kept> kept{};     ///< in the end, most bytes first; they add up to it
  std::vector<Level> points{};
  std::vector<TimeNs> times{};  ///< of the points; -1: not recorded
  std::vector<Band> bands{};
  std::int64_t failure_count = 0;
  std::vector<Failure> failures{};  ///< the last ones, in order
  std::int64_t contradictions = 0;

  /// The last of the failures for which enough was free, but in pieces; or else the last one.
  const Failure* WorstFailure() const;
};

struct RankMemory {
  std::vector<SnapshotMemory> snapshots;
  bool is_snapshot = false;      ///< there is nothing else
  std::int64_t allocations = 0;  ///< that are listed
  bool lacks_addresses = false;  ///< which allocation a release ends is not known; nothing follows
  bool has_totals = false;       ///< the allocators reported what is allocated
  bool is_listed = false;        ///< the framework listed parameters and states
  /// Bytes allocated before the capture, and those of them whose use is listed or estimated.
  std::int64_t before = 0, before_explained = 0;
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
  std::vector<Band> bands;  ///< of the holders that have most at the peak
  std::vector<Event> events;
  bool packed = false;   ///< the files of this rank are packed with gzip
  bool written = false;  ///< the events were taken out, into files

  /// The usual growth from step to step; empty with less than three steps.
  std::optional<std::int64_t> GrowthPerStep() const;
};

/// "aten::empty in aten::to"; a name in brackets in the language of the reader.
std::string NameOf(const Holder& holder);
/// "aten::empty in aten::to at train.py:90".
std::string TextOf(const Holder& holder);

using Ranks = std::vector<OfRank<RankMemory>>;

inline constexpr Tables kMemoryTables =
    Tables::kAllocations | Tables::kMemorySamples | Tables::kHostOps | Tables::kOpStacks |
    Tables::kPythonCalls | Tables::kBackwardLinks | Tables::kQueuedWork | Tables::kLaunches |
    Tables::kKernels | Tables::kDeviceTasks | Tables::kCommunications | Tables::kCommTasks |
    Tables::kSteps | Tables::kMemorySnapshot;

/// Of each device in each snapshot.
std::vector<SnapshotMemory> SnapshotsOf(const RankTrace& trace);

/// With `step` of that step alone; the categories always come from the whole capture.
RankMemory MemoryOf(const RankTrace& trace, std::optional<std::int32_t> step);

/// The sheets MemoryRanks, MemoryPeak, MemoryByStep, MemoryGrowth and MemoryOverTime.
void AddSheets(const Ranks& ranks, Report& report);

/// The peak, what held it, growth and fragmentation.
void AddLines(const Ranks& ranks, Detail detail, Report& report);

/// The same of memory snapshots: the sheets SnapshotDevices, SnapshotPeak, SnapshotHeld,
/// SnapshotOverTime and SnapshotFailures, pictures, and lines. Nothing where there are none.
void AddSnapshotSheets(const Ranks& ranks, Report& report);
void AddSnapshotDrawings(const Ranks& ranks, Report& report);
void AddSnapshotLines(const Ranks& ranks, Detail detail, Report& report);

}  // namespace mpa::recipes::memory_timeline
