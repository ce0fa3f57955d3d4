// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "begin_ends.h"
#include "mpa/model/rank_trace.h"
#include "mpa/readers/reader.h"
#include "trace_builder.h"
#include "trace_events.h"
#include "trace_mstx.h"
#include "trace_runtime.h"

namespace mpa::readers {

/// A span of a process that is not the program's: of a device, of the runtime, a mark. The name of
/// the process, which may come last, says which.
struct DeviceEvent : DeviceTasks::Row {
  std::int64_t pid = 0, tid = 0;
};

/// The args of a device event that is a collective or a piece of one.
struct CommArgs {
  std::size_t event = 0;  ///< its place among the device events
  std::int32_t own_rank = -1, peer = -1;
  std::int64_t bytes = -1;
  StringId transport{}, link_type{};
  std::int64_t notify = -1, stream = -1;
  StringId data_type{};  ///< of a collective, with
  std::int64_t count = -1;
};

/// A value of a counter. The name of its process, which may come last, says of what.
struct CounterEvent {
  std::int64_t pid = 0;
  StringId name{}, series{};
  StringId id{};  ///< of the accelerator that an arg names
  TimeNs time = 0;
  double value = 0;
};

/// The name or place of a process or thread.
struct Metadata {
  enum class Kind : std::uint8_t { kProcessName, kThreadName, kThreadSortIndex };
  Kind kind;
  std::int64_t pid, tid;
  StringId value;
};

/// The contents of one piece of a trace. Texts are those of the fragment.
struct TraceFragment {
  StringPool strings;
  Issues issues;
  std::vector<HostEvent> host, python;
  std::vector<DeviceEvent> device;
  std::vector<RuntimeArgs> runtime_args;  ///< of the device events, or none when nobody asks
  std::vector<MstxArgs> mstx_args;        ///< likewise
  std::vector<CommArgs> comm_args;        ///< of the device events that have such, in order
  std::vector<FlowPoint> flows, backward_flows, runtime_flows, mstx_flows;
  std::vector<QueueEvent> queue;
  std::vector<Metadata> metadata;
  BeginEnds begin_ends;
  GarbageCollections garbage_collections;
  CoreClocks core_clocks;
  std::vector<CounterEvent> counters;
  std::int64_t backward_tid = -1;
};

/// The tables that need the runtime's own events.
constexpr Tables kRuntimeTables =
    Tables::kHostCalls | Tables::kDeviceRuns | Tables::kModelIterations | Tables::kSystemCalls;

/// Parses a piece of the array of events. Events that are not needed are dropped, broken ones
/// counted. Returns false when the piece is not valid as a whole, see EventParser.
bool FillFragment(EventParser& parser, const io::EventPiece& piece, const ReadRequest& request,
                  std::string_view file_name, TraceFragment& fragment);
/// The same with the spans of all pieces that are written as two events.
void FillFragment(BeginEnds& begin_ends, const ReadRequest& request, std::string_view file_name,
                  TraceFragment& fragment);

}  // namespace mpa::readers
