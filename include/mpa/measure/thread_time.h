// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "mpa/measure/intervals.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// What a thread does at a time, as the scheduler of the operating system tells it.
enum class ThreadDoing : std::uint8_t {
  kRunning,
  kPreempted,  ///< could run, and another has its core
  kWoken,      ///< was woken, and waits for a core
  kInterrupted,
  kSleeping,
  kUninterruptible,
  kUnknown,  ///< before its first event, behind its last one, or events were lost
};
inline constexpr std::size_t kThreadDoings = 7;
constexpr ThreadDoing LastOf(ThreadDoing) { return ThreadDoing::kUnknown; }
/// "preempted"
std::string_view NameOf(ThreadDoing doing);
/// Without the interrupts, which are not states of threads.
ThreadDoing DoingOf(ThreadState state);
/// True for what keeps a thread from running although it could.
constexpr bool HoldsUp(ThreadDoing doing) {
  return doing == ThreadDoing::kPreempted || doing == ThreadDoing::kWoken ||
         doing == ThreadDoing::kInterrupted;
}

/// A time in which a thread does one thing.
struct ThreadPiece {
  TimeNs begin = 0, end = 0;
  ThreadDoing doing{};
  /// Of ThreadStates, of kInterrupted of Interrupts; -1: of kUnknown.
  std::int64_t row = -1;
};

/// What a thread did in a stretch of time. The times add up to the stretch.
struct ThreadAccount {
  std::array<TimeNs, kThreadDoings> times{};
  /// How often it gave its core away, how often that was taken from it, how often it went on at
  /// another core, and of these at one of another NUMA node.
  std::int64_t given = 0, taken = 0, moves = 0, far_moves = 0;

  TimeNs Of(ThreadDoing doing) const { return times[static_cast<std::size_t>(doing)]; }
  TimeNs HeldUp() const;
};

/// What held up a thread, of all pieces of one name.
struct HoldUp {
  ThreadDoing doing{};
  StringId by{};  ///< that had the core, or the interrupt; empty: not known, or the core was idle
  bool by_own = false;          ///< a thread of the process itself
  std::int64_t thread = -1;     ///< that was held up
  std::int64_t by_thread = -1;  ///< of the longest piece
  std::int32_t core = -1;       ///< likewise
  std::int64_t count = 0;
  TimeNs time = 0, longest = 0, start = 0;  ///< `start` of the longest piece
};

/// The number of the thread of a track; -1: there is none.
std::int64_t ThreadOfTrack(const RankTrace& trace, std::int32_t track);

/// The threads of a rank's process over time. Refers to the rank, which must outlive it.
class ThreadTimes {
 public:
  explicit ThreadTimes(const RankTrace& trace);

  bool Empty() const { return threads_.empty(); }
  /// In order of their numbers.
  std::vector<std::int64_t> Threads() const;
  StringId NameOfThread(std::int64_t thread) const;

  /// Calls visit() for all of the stretch, piece by piece.
  void Walk(std::int64_t thread, const Interval& stretch,
            const std::function<void(const ThreadPiece&)>& visit) const;
  ThreadAccount Of(std::int64_t thread, const Interval& stretch) const;
  /// What held up the thread in the stretch, and while it slept, `before`, which it waited for; -1:
  /// none. What took longest comes first.
  std::vector<HoldUp> HoldUps(std::int64_t thread, std::int64_t before,
                              const Interval& stretch) const;

 private:
  struct Thread {
    std::vector<std::uint32_t> rows;  // of the states, in order of start
    std::vector<Won> interrupts;      // disjoint, in order; `index` is the row
  };
  void WalkRunning(const Thread& thread, const Interval& stretch, std::int64_t row,
                   const std::function<void(const ThreadPiece&)>& visit) const;

  const RankTrace& trace_;
  std::map<std::int64_t, Thread> threads_;
};

}  // namespace mpa
