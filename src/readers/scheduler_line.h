// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "mpa/base/time.h"

/// One line of a trace of the operating system's scheduler: the text of ftrace, of trace-cmd's
/// report, and of perf script.
namespace mpa::readers {

enum class SchedulerKind : std::uint8_t {
  kSwitch,
  kWakeup,  ///< also the intent to wake up (sched_waking), which comes before
  kMigrate,
  kInterruptBegin,
  kInterruptEnd,
  kSoftBegin,
  kSoftEnd,
  kLost,  ///< events of a core
};

/// A thread as its event names it.
struct TracedThread {
  std::string_view name;
  std::int64_t id = -1;
  std::int64_t process = -1;  ///< -1: the line does not tell it
};

struct SchedulerLine {
  SchedulerKind kind{};
  TimeNs time = 0;  ///< on the clock of the trace; of kLost none
  std::int32_t core = -1;
  TracedThread current;        ///< that ran on the core; of a switch, that stops running
  TracedThread other;          ///< of a switch, that runs from now on; else that it happens to
  char state = 0;              ///< of a switch, of `current` from now on: 'R' can run, 'S' sleeps
  std::int32_t target = -1;    ///< core of `other`
  std::int32_t number = -1;    ///< of an interrupt
  std::string_view interrupt;  ///< name of an interrupt, at its begin
  std::int64_t lost = 0;       ///< how many events
};

enum class LineOutcome : std::uint8_t {
  kEvent,
  kOther,   ///< a comment, another event, a line of a call stack
  kBroken,  ///< one of these events, with fields that make no sense
};

/// Reads a line without its end. The texts of `line` are parts of `text`, or static.
LineOutcome ReadSchedulerLine(std::string_view text, SchedulerLine& line);

/// No machine has a core of this number.
inline constexpr std::int32_t kMostCores = 1 << 14;

}  // namespace mpa::readers
