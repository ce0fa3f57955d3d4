// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/measure/thread_time.h"
#include "mpa/model/rank_trace.h"

/// What one rank's threads did: the part of the recipe.
namespace mpa::recipes::host_threads {

/// A thread, from the begin of the recorded work of the host to its end.
struct ThreadRow {
  std::int64_t thread = -1;
  std::string name;
  bool launches = false;  ///< it launched device work
  TimeNs running = 0, preempted = 0, woken = 0, interrupted = 0, sleeping = 0, uninterruptible = 0,
         unknown = 0;
  std::int64_t given = 0, taken = 0, moves = 0, far_moves = -1, cores = 0;
  std::string by;  ///< what held it up most; empty: nothing did, or the core was idle
  TimeNs by_time = 0;

  TimeNs HeldUp() const { return preempted + woken + interrupted; }
};

/// Interrupts of one name on a core.
struct InterruptRow {
  std::int32_t core = -1;
  std::string name;
  bool soft = false;
  std::int64_t count = 0;
  TimeNs time = 0, longest = 0;
  TimeNs of_threads = 0;  ///< of `time`, while a thread of the process had the core
};

struct RankThreads {
  TimeNs begin = 0, end = 0;
  std::int64_t machine_cores = -1, used_cores = 0;
  std::vector<ThreadRow> threads;        ///< those that were held up longest first
  std::vector<InterruptRow> interrupts;  ///< those that took most time first
};

RankThreads ThreadsOf(const RankTrace& trace);

}  // namespace mpa::recipes::host_threads
