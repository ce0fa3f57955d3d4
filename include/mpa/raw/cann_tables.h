// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table_base.h"

/// What the driver and CANN recorded (PROF_*), decoded and joined. Times are nanoseconds since the
/// epoch, rounded down from the exact value of the counter; -1: not known.
namespace mpa::raw {

/// The context of a task that is no part of an FFTS+ group, and of the group itself.
inline constexpr std::int64_t kNoContext = 0xFFFFFFFF;
/// The model of a task that belongs to none.
inline constexpr std::int64_t kNoModel = 0xFFFFFFFF;

/// The levels of host calls, as api_event.data numbers them.
enum class Level : std::int32_t {
  kDpu = 4000,
  kProfiling = 4500,
  kRuntime = 5000,
  kCommunication = 5500,
  kNode = 10000,
  kModel = 15000,
  kAcl = 20000,
  kTx = 20500,
  kPta = 25000,
  kPytorch = 30000,
};

/// Calls of CANN on the host. In order of start, then of the deeper level last; the row number is
/// the connection of what a call launched.
struct HostCalls : TableBase<HostCalls> {
  struct Row {
    TimeNs start = 0, end = 0;
    Level level{};
    std::uint32_t type = 0;     ///< number within the level; of acl calls type >> 16 is the mode
    StringId name{};            ///< by the type dictionary: "aclnnAdd", "launch", "master"
    StringId item{};            ///< text of the item: op (node), sub-task (communication); or empty
    std::uint64_t item_id = 0;  ///< as recorded: hash of `item`, or number of the model
    std::int64_t request = -1;  ///< model level: iteration
    std::int64_t thread = -1;
    bool launches = false;  ///< an arrow HostToDevice begins at `start`, see page of the format
  };
  std::vector<TimeNs> start, end;
  std::vector<Level> level;
  std::vector<std::uint32_t> type;
  std::vector<StringId> name, item;
  std::vector<std::uint64_t> item_id;
  std::vector<std::int64_t> request, thread;
  std::vector<std::uint8_t> launches;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.end, t.level, t.type, t.name, t.item, t.item_id, t.request, t.thread,
                    t.launches);
  }
};

/// What a device task is.
enum class TaskKind : std::uint8_t {
  kOther,           ///< events, copies, waits
  kKernel,          ///< `detail` is its row in Kernels
  kCollectivePart,  ///< `detail` is its row in CollectiveParts
};

/// Everything that ran on a device, joined with the host record that launched it. In order of
/// start, then of stream, task and context.
struct Tasks : TableBase<Tasks> {
  struct Row {
    TimeNs start = 0, end = 0;
    double dur = 0;           ///< ns, exact: where a tick is no whole ns, end - start is not
    StringId host_type{};     ///< "KERNEL_AICORE", "MEMCPY_ASYNC"; empty: no host record
    StringId device_type{};   ///< "AI_CORE", "SDMA_SQE", of an FFTS+ context "AIC", "MIX_AIC"
    StringId function{};      ///< name of the kernel function in the host record, or empty
    std::int64_t device = 0;  ///< number of the device
    std::int64_t stream = -1, task = -1, batch = 0;
    std::int64_t context = kNoContext;
    std::int64_t model = kNoModel;
    std::int64_t request = -1;  ///< iteration of the model
    std::int64_t thread = -1;   ///< that issued it; -1 without host record
    TimeNs issued = -1;         ///< time of the host record
    std::int32_t call = -1;     ///< row in HostCalls that is its connection; -1: none around it
    TaskKind kind{};
    std::int32_t detail = -1;
    bool group = false;  ///< task around the contexts of an FFTS+ group: not in the timeline
  };
  std::vector<TimeNs> start, end;
  std::vector<double> dur;
  std::vector<StringId> host_type, device_type, function;
  std::vector<std::int64_t> device, stream, task, batch, context, model, request, thread;
  std::vector<TimeNs> issued;
  std::vector<std::int32_t> call;
  std::vector<TaskKind> kind;
  std::vector<std::int32_t> detail;
  std::vector<std::uint8_t> group;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.end, t.dur, t.host_type, t.device_type, t.function, t.device,
                    t.stream, t.task, t.batch, t.context, t.model, t.request, t.thread, t.issued,
                    t.call, t.kind, t.detail, t.group);
  }
};

/// Compute kernels. In the order of their tasks. Texts are "N/A" at level 0, where only name and
/// block number are recorded.
struct Kernels : TableBase<Kernels> {
  struct Row {
    std::int32_t task = -1;  ///< row in Tasks
    StringId name{}, op_type{};
    StringId core{};   ///< "AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "AI_CPU", "DSA_SQE", ...
    StringId state{};  ///< "dynamic", "static"
    std::int64_t blocks = 0, mix_blocks = 0;
    StringId hf32{};  ///< "YES", "NO"
    // "FLOAT16;DT_BF16", "ND;NCHW", "\"32,3;16\"" with the quotes; one entry a tensor.
    StringId input_shapes{}, input_types{}, input_formats{};
    StringId output_shapes{}, output_types{}, output_formats{};
    StringId attributes{};       ///< JSON text, or "N/A"
    std::int32_t counters = -1;  ///< row in Counters
  };
  std::vector<std::int32_t> task;
  std::vector<StringId> name, op_type, core, state;
  std::vector<std::int64_t> blocks, mix_blocks;
  std::vector<StringId> hf32, input_shapes, input_types, input_formats, output_shapes, output_types,
      output_formats, attributes;
  std::vector<std::int32_t> counters;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.task, t.name, t.op_type, t.core, t.state, t.blocks, t.mix_blocks, t.hf32,
                    t.input_shapes, t.input_types, t.input_formats, t.output_shapes, t.output_types,
                    t.output_formats, t.attributes, t.counters);
  }
};

/// Copies between memories.
struct Copies : TableBase<Copies> {
  struct Row {
    std::int32_t task = -1;       ///< row in Tasks
    std::int64_t bytes = 0;       ///< 0 where the host did not record it
    std::int64_t direction = -1;  ///< 0 h2h, 1 h2d, 2 d2h, 3 d2d, ..., 65535 other
  };
  std::vector<std::int32_t> task;
  std::vector<std::int64_t> bytes, direction;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.task, t.bytes, t.direction);
  }
};

/// Collective and point-to-point operations. In order of issue.
struct Collectives : TableBase<Collectives> {
  struct Row {
    TimeNs start = 0, end = 0;  ///< first start to last end of its master parts
    double dur = 0;             ///< ns, exact
    StringId name{};            ///< "hcom_allReduce__586_0_1"
    StringId op_type{};         ///< "hcom_allReduce_"
    StringId group{};           ///< hash of the group name, decimal
    StringId group_name{};      ///< text of it; the hash again where the dictionary lacks it
    StringId algorithm{};       ///< "MESH-RING"; "N/A"
    std::int64_t data_type = 255;
    std::int64_t count = 0;  ///< elements
    std::int64_t relay = 0, retry = 0;
    std::int64_t rank_size = 0;
    std::int64_t device = 0;
    std::int64_t model = kNoModel;
    std::int32_t call = -1;  ///< row in HostCalls: its node range
    std::int64_t thread = -1;
  };
  std::vector<TimeNs> start, end;
  std::vector<double> dur;
  std::vector<StringId> name, op_type, group, group_name, algorithm;
  std::vector<std::int64_t> data_type, count, relay, retry, rank_size, device, model;
  std::vector<std::int32_t> call;
  std::vector<std::int64_t> thread;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.end, t.dur, t.name, t.op_type, t.group, t.group_name, t.algorithm,
                    t.data_type, t.count, t.relay, t.retry, t.rank_size, t.device, t.model, t.call,
                    t.thread);
  }
};

/// The pieces of collectives. In the order of their tasks.
struct CollectiveParts : TableBase<CollectiveParts> {
  struct Row {
    std::int32_t task = -1;        ///< row in Tasks
    std::int32_t collective = -1;  ///< row in Collectives
    StringId name{};               ///< "Memcpy", "Notify_Wait", "RDMASend"
    std::int64_t plane = -1;
    bool master = false;
    std::uint64_t notify = 0xFFFFFFFF;
    std::int64_t local_rank = 0;
    std::int64_t remote_rank = 0xFFFFFFFF;  ///< as recorded; 0xFFFFFFFF: none
    std::int64_t bytes = 0;
    // Numbers as recorded; the tables of names are in raw/enumerations.h.
    std::int64_t transport = -1, data_type = -1, link = -1, rdma = -1;
    double estimated = 0;  ///< duration estimated by the library, µs
    double bandwidth = 0;  ///< bytes per second
  };
  std::vector<std::int32_t> task, collective;
  std::vector<StringId> name;
  std::vector<std::int64_t> plane;
  std::vector<std::uint8_t> master;
  std::vector<std::uint64_t> notify;
  std::vector<std::int64_t> local_rank, remote_rank, bytes, transport, data_type, link, rdma;
  std::vector<double> estimated, bandwidth;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.task, t.collective, t.name, t.plane, t.master, t.notify, t.local_rank,
                    t.remote_rank, t.bytes, t.transport, t.data_type, t.link, t.rdma, t.estimated,
                    t.bandwidth);
  }
};

/// What the counters of kernels say, derived from the metric set of the capture. One row a kernel,
/// one value a metric: values[row * names.size() + metric].
struct Counters {
  /// "aicore_time", "aic_total_cycles", "aic_mac_ratio", ..., "cube_utilization" in the order of
  /// the columns of kernel_details.csv, without the unit. Times are in ns.
  std::vector<std::string> names;
  /// Whether kernel_details.csv and whether TASK_PMU_INFO has the metric.
  std::vector<std::uint8_t> in_details, in_database;
  std::vector<double> values;  ///< NaN: does not apply to the kernel

  std::size_t Size() const { return names.empty() ? 0 : values.size() / names.size(); }
};

/// Clock of the cube cores; each value holds until the next.
struct CoreFrequencies : TableBase<CoreFrequencies> {
  struct Row {
    TimeNs time = 0;
    std::int64_t mhz = 0;
    std::int64_t device = 0;
  };
  std::vector<TimeNs> time;
  std::vector<std::int64_t> mhz, device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.mhz, t.device);
  }
};

/// Memory of the device in use, sampled (npu_mem.data).
struct DeviceMemory : TableBase<DeviceMemory> {
  struct Row {
    TimeNs time = 0;
    bool whole_device = false;      ///< of all processes; else of this one ("APP")
    std::int64_t ddr = 0, hbm = 0;  ///< bytes
    std::int64_t device = 0;
  };
  std::vector<TimeNs> time;
  std::vector<std::uint8_t> whole_device;
  std::vector<std::int64_t> ddr, hbm, device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.whole_device, t.ddr, t.hbm, t.device);
  }
};

/// Memory that the parts of CANN reserved, sampled (npu_module_mem.data).
struct ModuleMemory : TableBase<ModuleMemory> {
  struct Row {
    TimeNs time = 0;
    std::int64_t module = -1;
    std::int64_t reserved = 0;  ///< bytes; -1: beyond what the record holds
    std::int64_t device = 0;
  };
  std::vector<TimeNs> time;
  std::vector<std::int64_t> module, reserved, device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.module, t.reserved, t.device);
  }
};

/// Memory that operators of CANN took and gave back (task_memory_info).
struct OpMemory : TableBase<OpMemory> {
  struct Row {
    TimeNs time = 0;
    StringId name{};
    std::uint64_t address = 0;
    std::int64_t bytes = 0;                    ///< negative: given back
    std::int64_t allocated = 0, reserved = 0;  ///< bytes in all, after it
    std::int64_t thread = -1;
    std::int64_t device = 0;
    std::int64_t device_type = 20;
  };
  std::vector<TimeNs> time;
  std::vector<StringId> name;
  std::vector<std::uint64_t> address;
  std::vector<std::int64_t> bytes, allocated, reserved, thread, device, device_type;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.name, t.address, t.bytes, t.allocated, t.reserved, t.thread, t.device,
                    t.device_type);
  }
};

/// What the AI CPU says of the kernels that it ran. In order of start.
struct AiCpuKernels : TableBase<AiCpuKernels> {
  struct Row {
    TimeNs start = 0;
    TimeNs dur = 0;                      ///< ns
    StringId name{};                     ///< of the kernel; "N/A" where none ran then
    std::int64_t compute = 0, copy = 0;  ///< µs
    std::int64_t dispatch = 0;           ///< µs
    TimeNs total = 0;                    ///< ns from the submission to the end
    std::int64_t device = 0, stream = -1, task = -1;
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name;
  std::vector<std::int64_t> compute, copy, dispatch;
  std::vector<TimeNs> total;
  std::vector<std::int64_t> device, stream, task;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.compute, t.copy, t.dispatch, t.total, t.device,
                    t.stream, t.task);
  }
};

/// What the program did with its queues of input data. In order of time.
struct InputQueue : TableBase<InputQueue> {
  struct Row {
    TimeNs time = 0;
    StringId action{};      ///< "Last queue dequeue"
    StringId source{};      ///< "iterator_default"
    std::int64_t size = 0;  ///< entries in the queue
    std::int64_t device = 0;
  };
  std::vector<TimeNs> time;
  std::vector<StringId> action, source;
  std::vector<std::int64_t> size, device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.action, t.source, t.size, t.device);
  }
};

/// Marks and ranges that the program set (mstx, tx). In order of start.
struct Marks : TableBase<Marks> {
  struct Row {
    TimeNs start = 0, end = 0;
    std::int64_t event_type = 0;  ///< 0 marker, 1 push/pop, 2 start/end, 3 marker_ex
    std::int64_t mark_id = 0;
    StringId domain{};  ///< "default"
    StringId message{};
    std::int64_t process = -1, thread = -1;
    // Where it has a side on the device; -1 otherwise.
    TimeNs device_start = -1, device_end = -1;
    std::int64_t device = -1, device_stream = -1, device_task = -1;
  };
  std::vector<TimeNs> start, end;
  std::vector<std::int64_t> event_type, mark_id;
  std::vector<StringId> domain, message;
  std::vector<std::int64_t> process, thread;
  std::vector<TimeNs> device_start, device_end;
  std::vector<std::int64_t> device, device_stream, device_task;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.end, t.event_type, t.mark_id, t.domain, t.message, t.process,
                    t.thread, t.device_start, t.device_end, t.device, t.device_stream,
                    t.device_task);
  }
};

/// Runs of models on the device (ts_track step marks of tag 0 and 1).
struct ModelRuns : TableBase<ModelRuns> {
  struct Row {
    TimeNs start = 0, end = 0;
    std::int64_t model = -1, index = -1;
    std::int64_t device = 0;
  };
  std::vector<TimeNs> start, end;
  std::vector<std::int64_t> model, index, device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.end, t.model, t.index, t.device);
  }
};

/// What a device did, in disjoint intervals per kind; the profiler's "Overlap Analysis".
enum class DeviceActivity : std::uint8_t {
  kComputing = 0,
  kCommunication = 1,
  kExposedCommunication = 2,  ///< communication while nothing is computed
  kFree = 3,
};

struct Activities : TableBase<Activities> {
  struct Row {
    TimeNs start = 0, end = 0;
    DeviceActivity activity{};
    std::int64_t device = 0;
  };
  std::vector<TimeNs> start, end;
  std::vector<DeviceActivity> activity;
  std::vector<std::int64_t> device;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.end, t.activity, t.device);
  }
};

}  // namespace mpa::raw
