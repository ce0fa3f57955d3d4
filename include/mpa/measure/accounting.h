// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/measure/collective_phases.h"
#include "mpa/measure/earlier_time.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

class HostTimeline;

/// Host and device stamp the same moment a little differently. A host time minus the offset is a
/// time of the device.
struct HostClock {
  TimeNs offset = 0;
  bool trusted = true;  ///< false: the clocks are too far apart to tell; the offset is 0
};
/// From kernels that began before the calls that launched them. Needs kernels, device tasks, host
/// calls.
HostClock HostClockOf(const RankTrace& trace);

/// The table that `Piece::row` is of.
enum class PieceTable : std::uint8_t {
  kNone,
  kKernels,
  kCommunications,
  kDeviceTasks,
  kHostOps,
  kPythonCalls,
  kHostCalls,
  kQueuedWork,
  kGarbageCollections,
  kMstx,
  kSystemCalls,
  kLockUses,
};

/// More about free time; bits.
enum PieceTag : std::uint8_t {
  kPrepare = 1,    ///< before the first device work of the window
  kTail = 2,       ///< behind the last one
  kAfterSync = 4,  ///< a host call waited until the device had nothing to do; see DrainedGap
  kBoundary = 8,   ///< where the host was not yet, or no longer, recorded
};

enum class Confidence : std::uint8_t {
  kExact,
  kPartial,  ///< the capture lacks the calls of the runtime, or the clocks are too far apart
  kGuess,    ///< another thread was looked at, because the one in question was idle
};

/// A stretch of a step with its category. Times are those of the device.
struct Piece {
  TimeNs begin = 0, end = 0;
  std::int32_t row = -1;   ///< what it is about: a kernel, an operation, a host call
  std::int32_t peer = -1;  ///< of comm.wait_peer and comm.bubble: who came last, within the group
  TimeCategory category{};
  PieceTable table{};
  std::uint8_t tags = 0;
  Confidence confidence{};
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// A gap behind a call that waited for the device.
struct DrainedGap {
  Interval gap;
  std::int32_t call = -1;  ///< row of the host calls; of a GPU of the host operators
};

/// A step of a rank as every command means it: a time on the device, by the device's clock. Host
/// times are converted to it by HostClock.
struct StepWindow {
  std::int32_t id = -1;  ///< -1: the whole capture, which has no steps
  Interval window = {};
};

/// One step of a rank. Its categories add up to its window, its pieces lie one behind the other.
struct StepAccount : StepWindow {
  CategoryTimes categories = {};
  std::size_t first_piece = 0, end_piece = 0;
};

/// The steps of a rank with their windows on the device, one behind the other. A capture without
/// steps is one step, from its first device work to its last. None where no device work was
/// recorded. `steps`: others than the rank's own. Needs what StepBounds needs, and device tasks.
std::vector<StepWindow> FindStepWindows(const RankTrace& trace, const HostClock& clock,
                                        const Steps* steps = nullptr);

/// What lies before the first window. `steps`: as for FindStepWindows(), which gave the windows.
EarlierTime EarlierTimeOf(const RankTrace& trace, const HostClock& clock,
                          const std::vector<StepWindow>& windows, const Steps* steps = nullptr);

/// The accounts of a rank. The windows of its steps follow each other without a gap.
struct RankAccount {
  HostClock clock;
  EarlierTime earlier;
  std::vector<StepAccount> steps;
  std::vector<Piece> pieces;
  std::vector<DrainedGap> drained;

  std::span<const Piece> PiecesOf(const StepAccount& step) const {
    return std::span(pieces).subspan(step.first_piece, step.end_piece - step.first_piece);
  }
};

/// What other ranks tell. Empty: only what the rank knows itself.
struct AccountInput {
  std::span<const LastArrival> arrivals = {};  ///< by row of the communications
  std::span<const TimeNs> slow = {};           ///< by row: what a slow link cost
  TimeNs arrival_tolerance = kArrivalTolerance;
  const Steps* steps = nullptr;  ///< the account is by these instead of the rank's own
};

/// The tables that AccountRank() reads.
inline constexpr Tables kAccountTables =
    Tables::kHostOps | Tables::kLaunches | Tables::kKernels | Tables::kDeviceTasks |
    Tables::kCommunications | Tables::kCommTasks | Tables::kSteps | Tables::kPythonCalls |
    Tables::kQueuedWork | Tables::kMstx | Tables::kHostCalls | Tables::kGarbageCollections |
    Tables::kSystemCalls;

/// Where the time of every step of a rank went, to the nanosecond. O(n log n).
RankAccount AccountRank(const RankTrace& trace, const AccountInput& input = {});
/// The same for who has the timeline of the rank's host already.
RankAccount AccountRank(const RankTrace& trace, const HostTimeline& host,
                        const AccountInput& input);

/// When the first step of a capture does not count.
struct WarmUpLimits {
  double ratio = 1.2;       ///< it takes this many times as long as the others
  double compiling = 0.03;  ///< or compiling takes this share of it,
  double rest = 0.1;        ///< and in the others no more than this share of the compiling there
};

/// True if the first of three or more steps is warm-up: the advisor and the screens of recipes
/// leave it out. `lengths`: of the job's steps. `compiling`: time of the host that went into
/// compiling, by step, the sum of so many ranks.
bool FirstStepIsWarmUp(const std::vector<TimeNs>& lengths, const std::vector<TimeNs>& compiling,
                       std::size_t ranks, const WarmUpLimits& limits = {});

}  // namespace mpa
