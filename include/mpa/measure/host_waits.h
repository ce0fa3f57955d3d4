// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/measure/accounting.h"
#include "mpa/measure/time_category.h"
#include "mpa/model/rank_trace.h"

/// Calls of the rank's threads into the operating system, and locks that they wait for: which of
/// them hold a thread up, and who held a lock meanwhile.
namespace mpa {

/// Shorter calls, and shorter waits for the lock of Python's interpreter, are what threads do all
/// the time.
inline constexpr TimeNs kSlowSystemCall = 1'000'000, kLongGilWait = 100'000;

/// kLock for calls that take a lock or wait for another thread, else kSystemCall.
TimeCategory ClassOfSystemCall(std::string_view name);
/// True for calls in which threads also wait until others have work for them: conditions,
/// semaphores, pipes.
bool MayWaitForWork(std::string_view name);

/// The threads of the rank's tracks, by the numbers that the operating system gives them.
class SystemThreads {
 public:
  explicit SystemThreads(const Tracks& tracks);
  /// Its track; -1: nothing else is recorded of the thread. A process of -1 is any.
  std::int32_t TrackOf(std::int64_t process, std::int64_t thread) const;

 private:
  std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> tracks_;  // by thread, process
};

/// What held a thread up.
struct HostWait {
  TimeNs begin = 0, end = 0;
  std::int32_t track = -1;
  TimeCategory category{};  ///< kGil, kLock or kSystemCall
  PieceTable table{};       ///< kSystemCalls or kLockUses
  std::int32_t row = -1;
};

/// Slow calls and long waits of threads of which something else is recorded, too, by their tracks.
/// Of calls within each other the outermost, which is the one that the program made. Without those
/// in which a thread may wait for another one that works meanwhile: what it waits for is that
/// thread's matter.
std::vector<HostWait> FindHostWaits(const RankTrace& trace);

/// Leaves out, and counts, calls and waits that cannot have been when they say: a thread does not
/// begin an operator while it is in one. Where that is common, their clock is another one than that
/// of the capture, and none of them is kept. Needs the host's tables.
void CheckHostWaits(RankTrace& trace);

/// Names in LockUses::lock of long waits who held the lock meanwhile for the longest, and what that
/// thread ran, where it is recorded: "GIL held by thread 4711, loader.py(31): decode". Needs the
/// host's tables, too.
void NameLockHolders(RankTrace& trace);

}  // namespace mpa
