// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mpa/model/rank_trace.h"
#include "mpa/readers/reader.h"
#include "trace_builder.h"
#include "trace_runtime.h"

namespace mpa::readers {

/// A span of a process that is not the program's: of a device, of the runtime, a mark.
struct DeviceEvent {
  TimeNs start, dur;
  StringId name;
  std::int64_t pid, tid;
  std::string_view args;
  float dur_rest = 0;
  StringId type{};  ///< set once the process is known
  std::int64_t stream = -1, task_id = -1;
};

/// The name or place of a process or thread.
struct Metadata {
  std::int64_t pid, tid;
  StringId kind;  ///< process_name, thread_name, thread_sort_index
  std::string_view args;
};

/// What one piece of a trace holds.
struct TraceFragment {
  StringPool strings;
  Issues issues;
  std::vector<HostEvent> host, python;
  std::vector<DeviceEvent> device;
  std::vector<FlowPoint> flows, backward_flows, runtime_flows;
  std::vector<QueueEvent> queue;  ///< names are texts of the fragment
  std::vector<Metadata> metadata;
  std::vector<RuntimeEvent> runtime;  ///< set once the processes are known
  GarbageCollections garbage_collections;
  CoreClocks core_clocks;
  std::int64_t backward_tid = -1;
};

/// The tables that need the runtime's own events.
constexpr Tables kRuntimeTables =
    Tables::kHostCalls | Tables::kDeviceRuns | Tables::kModelIterations;

/// Parses a piece of the array of events. Events that nothing reads are dropped, broken ones
/// counted; device events keep their args unparsed, because their process may be named later.
void FillFragment(std::string_view piece, const ReadRequest& request, std::string_view file_name,
                  TraceFragment& fragment);

}  // namespace mpa::readers
