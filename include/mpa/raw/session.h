// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/model/device_tables.h"
#include "mpa/model/host_tables.h"
#include "mpa/model/issues.h"
#include "mpa/model/step_tables.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"
#include "mpa/raw/call_tables.h"
#include "mpa/raw/framework_tables.h"
#include "mpa/raw/task_tables.h"
#include "mpa/raw/traffic_tables.h"

/// A capture as the profiler left it, before any parsing: PROF_* (driver and CANN) and FRAMEWORK
/// (torch_npu). ReadSession() decodes the records, puts all times on one clock and joins host and
/// device. Times are nanoseconds since the epoch, rounded down from the exact value of the counter;
/// -1: unknown.
namespace mpa::raw {

// Memory of the devices (PROF_*).

/// Memory of the device in use, sampled (npu_mem.data).
template <template <typename> class Of>
struct DeviceMemoryFields {
  Of<TimeNs> time{};
  Of<bool> whole_device{};        ///< of all processes; else of this one ("APP")
  Of<std::int64_t> ddr{}, hbm{};  ///< bytes
  Of<std::int64_t> device{};
};
struct DeviceMemory : Table<DeviceMemoryFields> {};

/// Memory that the parts of CANN reserved, sampled (npu_module_mem.data).
template <template <typename> class Of>
struct ModuleMemoryFields {
  Of<TimeNs> time{};
  Of<std::int64_t> module = Initially{-1};
  Of<std::int64_t> reserved{};  ///< bytes; -1: beyond what the record holds
  Of<std::int64_t> device{};
};
struct ModuleMemory : Table<ModuleMemoryFields> {};

/// Memory that operators of CANN took and gave back (task_memory_info).
template <template <typename> class Of>
struct OpMemoryFields {
  Of<TimeNs> time{};
  Of<StringId> name{};
  Of<std::uint64_t> address{};
  Of<std::int64_t> bytes{};                  ///< negative: given back
  Of<std::int64_t> allocated{}, reserved{};  ///< bytes in all, after it
  Of<std::int64_t> thread = Initially{-1};
  Of<std::int64_t> device{};
  Of<std::int64_t> device_type = Initially{20};
};
struct OpMemory : Table<OpMemoryFields> {};

/// Families of chips that write the same device records.
enum class Generation : std::uint8_t {
  kUnknown,
  kHwts,     ///< 910 A and 310P: hwts.data, aicore.data
  kStars,    ///< 910B, 910C, 310B: stars_soc.data, ffts_profile.data
  kStarsV6,  ///< 950: records of 32 bytes, task numbers of 32 bits
};

/// One device of the capture (device_<id>).
struct Device {
  std::int64_t id = 0;
  std::int64_t platform = -1;  ///< platform_version of info.json
  Generation generation{};
  std::int64_t cube_cores = 0, vector_cores = 0;
  std::int64_t cube_mhz = 0, vector_mhz = 0;              ///< nominal
  TimeNs begin = -1;                                      ///< start of the collection on its side
  std::string cube_metrics, vector_metrics;               ///< "PipeUtilization"
  std::vector<std::uint32_t> cube_events, vector_events;  ///< numbers, in the order of the counters
  std::string record_version;                             ///< of the sampled memory, "1.0"
  std::string llc_mode;                                   ///< what llc.data counts, "read"
  std::vector<std::uint32_t> l2_events;                   ///< of l2_cache.data, as cube_events
  std::vector<std::string> qos_events;                    ///< what qos.data counts, in its order
};

/// The contents of the small files next to the records.
struct SessionInfo {
  std::filesystem::path path;       ///< the directory as given
  std::filesystem::path prof;       ///< its PROF_* directory; empty: CPU activity only
  std::filesystem::path framework;  ///< its FRAMEWORK directory; empty: none
  bool mindspore = false;           ///< collected by MindSpore, not by PyTorch
  RankId rank{};                    ///< -1: not known
  std::int64_t process = 0;
  std::string process_name;  ///< "python3"
  std::string host_name, host_uid, cann_version;
  int level = -1;               ///< 0..3 of sample.json; -1: not known
  TimeNs begin = -1, end = -1;  ///< of the collection on the host; end -1: it did not end
  std::vector<Device> devices;
};

/// Parts of a session, for callers that do not need all.
enum class Parts : std::uint32_t {
  kNone = 0,
  kFramework = 1u << 0,    ///< operators, queue, Python, collections, steps, links
  kDetails = 1u << 1,      ///< shapes, types and stacks of the operators
  kAllocations = 1u << 2,  ///< allocators of the framework
  kCann = 1u << 3,         ///< host calls, tasks, kernels, copies, collectives, activities
  kCounters = 1u << 4,
  kFrequency = 1u << 5,
  kMemory = 1u << 6,  ///< device, module and operator memory of CANN
  kMarks = 1u << 7,
  kTraffic = 1u << 8,    ///< links, ports, memory, caches, the host; kernels of these need kCann
  kStacks = 1u << 9,     ///< stacks of the operators alone
  kCacheUse = 1u << 10,  ///< of the traffic how tasks use the L2 cache
  kAll = (1u << 11) - 1,
};
constexpr Parts operator|(Parts a, Parts b) {
  return static_cast<Parts>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
/// True when the sets share a part.
constexpr bool Intersects(Parts a, Parts b) {
  return (static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b)) != 0;
}

/// All data of one raw capture.
struct Session {
  SessionInfo info;
  StringPool strings;
  Issues issues;  ///< omitted records, truncated files

  HostCalls calls;
  Tasks tasks;
  /// When kernels and copies were launched of which the device has no record.
  std::vector<TimeNs> unanswered_launches;
  Kernels kernels;
  AiCpuKernels ai_cpu;
  InputQueue input_queue;
  Collectives collectives;
  CollectiveParts parts;
  /// Streams on which kernels arrange the collectives of kernels that compute and communicate
  /// (MC2); in order.
  std::vector<std::int64_t> schedule_streams;
  Counters counters;
  CoreClocks core_clocks;
  DeviceMemory device_memory;
  ModuleMemory module_memory;
  OpMemory op_memory;
  TrafficTables traffic;
  L2CacheUse l2_cache;
  Marks marks;
  ModelIterations model_iterations;  ///< by the step marks of ts_track, tag 0 and 1
  Overlaps overlaps;

  TorchOps ops;
  QueueRanges queue;
  PythonCalls python;
  GarbageCollections garbage_collections;
  AllocatorEvents allocations;
  ListedTensors listed_tensors;
  Steps steps;
  BackwardPairs backward;
  DeviceLinks links;
};

/// Reads the capture in `path`: a *_ascend_pt directory or a PROF_* directory. Throws Error
/// (kInput, kCorrupt) when there is nothing to read or the clocks are missing.
Session ReadSession(const std::filesystem::path& path, Parts wanted);

/// True when a kernel, by its row, runs on one of the session's schedule_streams.
bool SchedulesCollectives(const Session& session, std::size_t kernel);

/// Lost or damaged data that the control files, names and sizes of the capture reveal, counted as
/// in ReadSession(). Reads no records. Throws as ReadSession().
Issues FindDamage(const std::filesystem::path& path);

}  // namespace mpa::raw
