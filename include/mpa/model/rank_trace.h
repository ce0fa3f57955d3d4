// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/rank_sequence.h"
#include "mpa/model/communication_summary.h"
#include "mpa/model/device_tables.h"
#include "mpa/model/function_counts.h"
#include "mpa/model/hardware_counters.h"
#include "mpa/model/host_tables.h"
#include "mpa/model/issues.h"
#include "mpa/model/memory_snapshot.h"
#include "mpa/model/scheduler_tables.h"
#include "mpa/model/server_tables.h"
#include "mpa/model/step_tables.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/system_calls.h"

namespace mpa {

/// A communication group as the job itself describes it.
struct JobGroup {
  std::string id;      ///< as databases name it, "host%eth_0"; see GroupHash()
  std::string name;    ///< "tp", "dp", "pp"
  RankSequence ranks;  ///< of the whole job; empty: the capture does not say
};

struct DeviceOfRank {
  RankId rank{};
  std::int64_t device = -1;
};

/// What a capture says about the job of the rank. Texts are empty where it does not say.
struct JobInfo {
  std::vector<JobGroup> groups;
  std::string distributed_args;  ///< a JSON object, such as {"tensor_model_parallel_size": 2, ...}
  std::string pipeline_type;     ///< "1f1b", "dualpipev"
  std::int64_t micro_batches = -1;  ///< of a step
  std::string host_uid, host_name;
  std::string chip;  ///< "Ascend910B"
  std::vector<DeviceOfRank> devices;
  /// Environment variables of the rank that the profiler kept, and its own switches:
  /// "profiler.stack", "profiler.shapes", "profiler.memory", "profiler.modules", "profiler.gc",
  /// each "on". Empty values are left out.
  std::map<std::string, std::string> settings;
};

/// A set of tables: what an analysis needs, what a reader fills.
enum class Tables : std::uint64_t {
  kNone = 0,
  kHostOps = 1ull << 0,
  kLaunches = 1ull << 1,
  kKernels = 1ull << 2,
  kDeviceTasks = 1ull << 3,
  kCommunications = 1ull << 4,  ///< with the groups
  kCommTasks = 1ull << 5,
  kOverlaps = 1ull << 6,
  kMemorySamples = 1ull << 7,
  kAllocations = 1ull << 8,
  kKernelStatistics = 1ull << 9,
  kTransfers = 1ull << 10,
  kSteps = 1ull << 11,  ///< with the marks of a server
  kStepTimes = 1ull << 12,
  kOpDetails = 1ull << 13,  ///< shapes and types of the host operators
  kPythonCalls = 1ull << 14,
  kBackwardLinks = 1ull << 15,
  kQueuedWork = 1ull << 16,
  kMstx = 1ull << 17,
  kScheduleKernels = 1ull << 18,
  kKernelTensors = 1ull << 19,  ///< types, formats and output shapes of the kernels
  kChips = 1ull << 20,
  kCoreClocks = 1ull << 21,
  kHostCalls = 1ull << 22,  ///< with their stamps and the time of the session
  kDeviceRuns = 1ull << 23,
  kModelIterations = 1ull << 24,
  kGarbageCollections = 1ull << 25,
  kKernelCounters = 1ull << 26,  ///< how long the kernels kept the units of their cores busy
  kCommSummary = 1ull << 27,     ///< times, bandwidths and links of communication
  kJobInfo = 1ull << 28,
  kListedKernels = 1ull << 29,  ///< with their counters
  kKernelLoads = 1ull << 30,    ///< of the kernels; needs these
  kOpStacks = 1ull << 31,       ///< call stacks of the host operators
  kNamedLaunches = 1ull << 32,
  kMemorySnapshot = 1ull << 33,
  kThreadStates = 1ull << 34,  ///< with the interrupts
  kSystemCalls = 1ull << 35,   ///< with the locks
  kCounters = 1ull << 36,      ///< with their samples
  kServer = 1ull << 37,        ///< requests, batches, cache and transfers of a server
  kFunctionCounts = 1ull << 38,
};

constexpr Tables operator|(Tables a, Tables b) {
  return static_cast<Tables>(static_cast<std::uint64_t>(a) | static_cast<std::uint64_t>(b));
}
constexpr Tables operator&(Tables a, Tables b) {
  return static_cast<Tables>(static_cast<std::uint64_t>(a) & static_cast<std::uint64_t>(b));
}
/// True when the sets share a table.
constexpr bool Intersects(Tables a, Tables b) { return (a & b) != Tables::kNone; }

enum class DeviceKind : std::uint8_t { kNpu, kGpu };

/// The tables of a rank. mpa/model/rank_tables.h says what fills each, and what of it belongs to a
/// step; it does not compile without a line for each.
struct RankTables {
  Tracks tracks;
  HostOps host_ops;
  PythonCalls python_calls;
  BackwardLinks backward_links;
  MstxEvents mstx;
  QueuedWork queued_work;
  HostCalls host_calls;
  CallStamps call_stamps;
  GarbageCollections garbage_collections;
  Launches launches;
  /// Filled whatever was asked for, where the capture says what launched what.
  UnansweredLaunches unanswered_launches;
  NamedLaunches named_launches;
  GraphReplays graph_replays;  ///< with the launches, where there are host operators
  Kernels kernels;
  KernelLoads kernel_loads;
  /// Kernels that only arrange collectives (on the AI CPU); databases list them apart.
  Kernels schedule_kernels;
  /// Collectives, as text captures list them among the kernels. See `communications`.
  Kernels listed_collectives;
  ListedKernels listed_kernels;
  Chips chips;
  CoreClocks core_clocks;
  DeviceTasks device_tasks;
  DeviceRuns device_runs;
  ModelIterations model_iterations;
  CommGroups comm_groups;
  Communications communications;
  CommTasks comm_tasks;
  Overlaps overlaps;
  MemorySamples memory_samples;
  Allocations allocations;
  KernelStatistics kernel_statistics;
  Transfers transfers;
  Steps steps;
  ServingMarks serving_marks;
  StepTimes step_times;
  MemorySnapshots memory_snapshots;
  MemoryCalls memory_calls;
  MemorySegments memory_segments;
  MemoryBlocks memory_blocks;
  MemoryActions memory_actions;
  ThreadStates thread_states;
  Interrupts interrupts;
  SystemCalls system_calls;
  LockUses lock_uses;
  FunctionCounts function_counts;
  Counters counters;
  CounterSamples counter_samples;
  ServerRequests server_requests;
  ServerBatches server_batches;
  ServerCache server_cache;
  ServerLoad server_load;
  ServerTransfers server_transfers;
  /// In the order of the capture; its steps are names ("step5").
  std::vector<CommunicationStep> communication_summary;
};

/// All data of one rank's capture, in one form for every input format. Filled by the readers,
/// constant afterwards.
struct RankTrace : RankTables {
  DeviceKind device = DeviceKind::kNpu;
  /// For display: the kind of capture ("text", "database"), and its level ("Level1"), empty where
  /// the capture does not say.
  std::string source, profiler_level;
  /// False for tables without the trace: times one by one are unknown.
  bool HasTimeline() const { return source != "tables"; }
  /// For display: the name of the capture's directory or file, and the rank; empty and -1: unknown.
  std::string capture;
  std::string capture_path;  ///< the capture's directory or file
  /// The directories between the one that was given and the capture: "3/actor_update"; empty: none.
  std::string capture_group;
  RankId rank{};
  bool is_one_step = false;  ///< SelectStep() cut it
  /// The window of that step on the device; it depends on the steps around it, which are gone.
  TimeNs step_begin = 0, step_end = 0;
  /// Until when the device did what was queued before the capture, see FindEarlierWork(); or 0.
  TimeNs earlier_work_end = 0;
  /// That work was recorded; else it is known from the launches that had to wait for it.
  bool earlier_work_was_recorded = true;
  /// BusiestStream() of the whole capture, where it was asked for already.
  std::optional<std::int64_t> busiest_stream;
  /// The host times of that step, both included; without one, all times. Some tables keep rows that
  /// run around the step, or launched its work; who counts rows leaves those out.
  TimeNs host_begin = std::numeric_limits<TimeNs>::min(),
         host_end = std::numeric_limits<TimeNs>::max();
  bool IsOfStep(TimeNs host_time) const { return host_time >= host_begin && host_time <= host_end; }
  /// Collected at Level0 without host activities: device times only.
  bool minimal_profiling = false;
  /// What the tasks of collectives were is not recorded: who waited is unknown, although the device
  /// tasks have waits.
  bool lacks_comm_tasks = false;
  /// The trace has no addresses of allocations: which of them a release ends is not known.
  bool lacks_addresses = false;
  /// Thread that runs the backward pass; -1 when the capture does not show it.
  std::int64_t backward_tid = -1;
  /// Cores of the host's machine, as the trace of its scheduler tells them; -1: not known.
  std::int64_t machine_cores = -1;
  /// Number of the device; -1 when the capture does not show it. See `chips`.
  std::int64_t device_id = -1;
  /// When the profiler began and stopped recording; -1 when the capture does not say.
  TimeNs session_start = -1, session_end = -1;

  StringPool strings;
  Issues issues;

  std::vector<StringId> counter_names;  ///< "aic_total_time", "aic_mac_ratio"; of the kernels
  JobInfo job;
};

}  // namespace mpa
