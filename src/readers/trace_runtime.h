// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/model/rank_trace.h"
#include "trace_builder.h"
#include "trace_events.h"

namespace mpa::readers {

/// The runtime's events of a process of the trace.
enum class RuntimeProcess : std::uint8_t {
  kNone,
  kHostCalls,
  kDevice,
  kIterations,
  kSystemCalls,
};

RuntimeProcess RuntimeProcessOf(std::string_view process_name);

/// True for the name or type of a task that occupies a stream without computing: a wait, a mark, a
/// copy.
bool IsNoRun(std::string_view name_or_type);

/// The args of an event of the runtime. Texts are those of the fragment.
struct RuntimeArgs {
  StringId item{};
  std::int64_t connection = -1;
  std::int64_t model = -1;      ///< of device work
  std::int64_t ran_model = -1;  ///< of the call that runs a model, with
  std::int64_t request = -1;
  bool waits = false;  ///< by its type: device work that only waits, copies or marks
};

/// `with_runs`: what only device runs need, too.
RuntimeArgs ReadRuntimeArgs(const TraceEvent& event, bool with_runs, EscapedTexts& texts);

/// Brings the runtime's events of all fragments into the tables of the rank.
class RuntimeTrace {
 public:
  RuntimeTrace(bool with_runs, RankTrace& trace) : with_runs_(with_runs), trace_(trace) {}

  /// An event of one of these processes; texts are those of the rank. Device work that only waits,
  /// copies or marks is dropped.
  void Add(RuntimeProcess process, const EventPlace& place, TimeNs dur, StringId name,
           const RuntimeArgs& args);
  /// Work of the device, if it is wanted; collectives are in a process of their own.
  void AddRun(const EventPlace& place, const DeviceRuns::Row& run) {
    if (with_runs_) runs_.emplace_back(place, run);
  }
  /// Fills the tables and links calls with device work by the flows between them; must be called
  /// after all operators were read. The processes are the viewer's own, the threads are those of
  /// the program.
  void Finish(const std::vector<FlowPoint>& flows, TrackNumbers& tracks);

 private:
  const bool with_runs_;
  RankTrace& trace_;
  // Rows that wait for the threads and the flows.
  std::vector<std::pair<EventPlace, HostCalls::Row>> calls_;
  std::vector<std::pair<EventPlace, DeviceRuns::Row>> runs_;
  std::vector<std::pair<EventPlace, SystemCalls::Row>> system_calls_;
};

/// Appends the beginnings of the flows if the trace contains no runtime calls, which would have
/// more details; must be called after all operators were read.
void AppendCallStamps(const std::vector<FlowPoint>& flows, RankTrace& trace);

}  // namespace mpa::readers
