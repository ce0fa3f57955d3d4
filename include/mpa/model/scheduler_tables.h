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
};

/// States of threads, each up to the next of its thread.
template <template <typename> class Of>
struct ThreadStateFields {
  Of<TimeNs> start{}, dur{};
  Of<std::int64_t> thread = Initially{-1};
  Of<StringId> name{};  ///< of the thread: "acl_thread"
  Of<ThreadState> state{};
  Of<std::int32_t> core = Initially{-1};  ///< of running: where; of waiting: where it ran before
  /// Who took the core, or woke the thread; empty: not recorded.
  Of<StringId> by{};
};
struct ThreadStates : Table<ThreadStateFields> {};

/// Interrupts that the cores handled.
template <template <typename> class Of>
struct InterruptFields {
  Of<TimeNs> start{}, dur{};
  Of<std::int32_t> core = Initially{-1};
  Of<StringId> name{};                      ///< "sq_send_trigger_irq"
  Of<std::int64_t> thread = Initially{-1};  ///< that it interrupted, of this process; -1: another
};
struct Interrupts : Table<InterruptFields> {};

}  // namespace mpa
