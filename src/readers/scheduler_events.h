// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/issues.h"
#include "mpa/model/string_pool.h"
#include "scheduler_line.h"

namespace mpa::readers {

/// An event of SchedulerLine in few bytes; a trace has millions of them.
struct SchedulerEvent {
  TimeNs time = 0;
  std::int32_t current = -1, other = -1;  ///< threads, as the trace numbers them
  StringId current_name{}, other_name{};  ///< of an interrupt `other_name` is its name
  std::int32_t target = -1;               ///< core; of an interrupt its number
  std::int16_t core = -1;
  SchedulerKind kind{};
  char state = 0;
};

/// A time in which events of a core were lost.
struct LostEvents {
  std::int32_t core = -1;
  TimeNs begin = 0, end = 0;
};

/// A whole trace, on its own clock.
struct SchedulerEvents {
  std::vector<SchedulerEvent> events;  ///< in order of time
  std::vector<LostEvents> lost;
  StringPool names;
  std::map<std::int32_t, std::int32_t> process_of;  ///< by thread, where the lines tell it
  std::int64_t cores = -1;                          ///< of the machine; -1: the trace does not say
  std::map<std::int32_t, std::int32_t> node_of;     ///< NUMA node by core, where the trace says it
  /// From its clock to the epoch, where the trace says it itself.
  std::optional<TimeNs> to_epoch;

  TimeNs Begin() const { return events.empty() ? 0 : events.front().time; }
  TimeNs End() const { return events.empty() ? 0 : events.back().time; }
};

/// Reads the text of a trace. `name` is that of its file, for messages.
SchedulerEvents ReadSchedulerEvents(std::string_view text, std::string_view name, Issues& issues);

}  // namespace mpa::readers
