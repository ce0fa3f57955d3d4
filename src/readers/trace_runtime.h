// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mpa/model/rank_trace.h"
#include "trace_builder.h"

namespace mpa::readers {

/// What a process of the trace holds of the runtime below the framework.
enum class RuntimeProcess : std::uint8_t { kNone, kHostCalls, kDevice, kIterations };

RuntimeProcess RuntimeProcessOf(std::string_view process_name);

/// True for the name or type of a task that occupies a stream without computing: a wait, a mark, a
/// copy.
bool IsNoRun(std::string_view name_or_type);

/// An event of such a process; name and item are texts of the fragment.
struct RuntimeEvent {
  RuntimeProcess process{};
  EventPlace place;
  TimeNs dur = 0;
  StringId name{}, item{};
  std::int64_t model = -1, request = -1, connection = -1;
};

/// Appends an event to those of its fragment, with what its args say; drops device work that only
/// waits, copies or marks.
void AddRuntimeEvent(RuntimeProcess process, const EventPlace& place, TimeNs dur, StringId name,
                     std::string_view args, StringPool& strings, std::vector<RuntimeEvent>& events);

/// Brings the runtime's events of all fragments into the tables of the rank.
class RuntimeTrace {
 public:
  explicit RuntimeTrace(RankTrace& trace) : trace_(trace) {}

  void Add(const std::vector<RuntimeEvent>& events, const std::vector<FlowPoint>& flows,
           StringMapping& texts);
  /// A collective of the communication process.
  void AddCollective(const EventPlace& place, TimeNs dur, StringId name, std::string_view args);
  /// Fills the tables; to be called when all operators are there. The processes are the viewer's
  /// own, the threads are those of the program.
  void Finish(TrackNumbers& tracks);

 private:
  struct Run {
    RuntimeEvent event;
    DeviceRunKind kind{};
  };

  RankTrace& trace_;
  std::vector<RuntimeEvent> calls_;
  std::vector<Run> runs_;
  std::vector<FlowPoint> flows_;
};

}  // namespace mpa::readers
