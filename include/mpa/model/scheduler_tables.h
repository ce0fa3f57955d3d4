// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// What the kernel of the operating system did with the threads of the rank's process: from traces
/// of its scheduler (ftrace, perf sched).
namespace mpa {

enum class ThreadState : std::uint8_t {
  kRunning,
  kPreempted,  ///< could run; the kernel took the core away
  kWoken,      ///< could run; it was woken and waits for a core
  kSleeping,
  kUninterruptible,  ///< sleeps in the kernel: disk, locks of drivers
  kUnknown,          ///< events were lost
};

/// States of threads: those of one thread follow each other without gaps. A wait for a core is cut
/// where another thread gets that core, so that each row has one that it waits for.
template <template <typename> class Of>
struct ThreadStateFields {
  Of<TimeNs> start{}, dur{};
  Of<std::int64_t> thread = Initially{-1};  ///< as the profile numbers it
  Of<StringId> name{};                      ///< of the thread: "acl_thread"
  Of<ThreadState> state{};
  Of<std::int32_t> core = Initially{-1};  ///< of running: where; of waiting: for which
  Of<std::int32_t> node = Initially{-1};  ///< NUMA node of `core`
  /// Of waiting: who had the core; of sleeping: who ended it. Empty: not recorded.
  Of<StringId> by{};
  Of<std::int64_t> by_thread = Initially{-1};  ///< as the trace numbers it; 0: the core was idle
  Of<bool> by_own{};                           ///< it belongs to the rank's process, too
};
struct ThreadStates : Table<ThreadStateFields> {};

/// Interrupts that the cores handled on which threads of the rank's process ran.
template <template <typename> class Of>
struct InterruptFields {
  Of<TimeNs> start{}, dur{};
  Of<std::int32_t> core = Initially{-1};
  Of<StringId> name{};                      ///< "sq_send_trigger_irq", "NET_RX"
  Of<bool> soft{};                          ///< work that an interrupt left for later (softirq)
  Of<std::int64_t> thread = Initially{-1};  ///< that it interrupted, of this process; -1: another
};
struct Interrupts : Table<InterruptFields> {};

}  // namespace mpa
