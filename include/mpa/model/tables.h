// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table_base.h"

/// The event tables of one rank. Columns are plain vectors of equal length; row i is the i-th
/// element of each. Times are nanoseconds. Missing values are -1 or the empty text unless said
/// otherwise.
namespace mpa {

/// Threads, device streams and communication planes: where something ran. Row number = track.
struct Tracks : TableBase<Tracks> {
  struct Row {
    std::int64_t pid = -1, tid = -1;
  };
  std::vector<std::int64_t> pid, tid;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.pid, t.tid);
  }
};

/// Framework operators on the host (aten::add, autograd nodes, ProfilerStep#n).
struct HostOps : TableBase<HostOps> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{};
    std::int32_t track = -1;
    // Details; "N/A" where the capture has none.
    StringId shapes{};  ///< "32,3,224,224;\r\n;\r\n", on GPUs "[[32, 3, 224, 224], [], []]"
    StringId types{};   ///< of the inputs, "float;\r\nScalar;\r\nScalar"
    StringId stack{};   ///< Python call stack, innermost first
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name;
  std::vector<std::int32_t> track;
  std::vector<StringId> shapes, types, stack;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.track, t.shapes, t.types, t.stack);
  }
};

/// Python functions on the host, nn.Module calls among them ("nn.Module: Linear_0").
struct PythonCalls : TableBase<PythonCalls> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{};
    std::int32_t track = -1;
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name;
  std::vector<std::int32_t> track;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.track);
  }
};

/// What an event of the mstx interface is. A range by start/end may end on another thread.
enum class MstxKind : std::uint8_t { kMark, kPushPop, kStartEnd };

/// Marks and ranges that the profiled program set itself (mstx).
struct MstxEvents : TableBase<MstxEvents> {
  struct Row {
    TimeNs start = 0, dur = 0;
    MstxKind kind{};
    StringId message{}, domain{};
    std::int32_t track = -1;  ///< thread on which it began; with a stream that of the task queue
    std::int64_t link = -1;   ///< see Launches; -1: nothing on the host or device refers to it
    // Its side on the device; -1: it has none.
    TimeNs device_start = -1, device_dur = -1;
  };
  std::vector<TimeNs> start, dur;
  std::vector<MstxKind> kind;
  std::vector<StringId> message, domain;
  std::vector<std::int32_t> track;
  std::vector<std::int64_t> link;
  std::vector<TimeNs> device_start, device_dur;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.kind, t.message, t.domain, t.track, t.link, t.device_start,
                    t.device_dur);
  }
};

/// Which operator of the backward pass belongs to which of the forward pass; the times are their
/// starts.
struct BackwardLinks : TableBase<BackwardLinks> {
  struct Row {
    TimeNs forward_time = 0;
    std::int32_t forward_track = -1;
    TimeNs backward_time = 0;
    std::int32_t backward_track = -1;
  };
  std::vector<TimeNs> forward_time;
  std::vector<std::int32_t> forward_track;
  std::vector<TimeNs> backward_time;
  std::vector<std::int32_t> backward_track;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.forward_time, t.forward_track, t.backward_time, t.backward_track);
  }
};

/// Work that one host thread handed to another (the task queue): put in the queue from `queued` to
/// `queued + queued_dur`, done from `start` to `start + dur`.
struct QueuedWork : TableBase<QueuedWork> {
  struct Row {
    TimeNs queued = 0;
    std::int32_t queued_track = -1;  ///< thread that asked for the work
    TimeNs start = 0, dur = 0;
    std::int32_t track = -1;  ///< thread that did it
    StringId name{};          ///< of the work, "Dequeue@aclnnAdd"
    TimeNs queued_dur = 0;
  };
  std::vector<TimeNs> queued;
  std::vector<std::int32_t> queued_track;
  std::vector<TimeNs> start, dur;
  std::vector<std::int32_t> track;
  std::vector<StringId> name;
  std::vector<TimeNs> queued_dur;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.queued, t.queued_track, t.start, t.dur, t.track, t.name, t.queued_dur);
  }
};

/// Calls of the runtime below the framework (CANN) on the host.
struct HostCalls : TableBase<HostCalls> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{};            ///< "<Level>@<name>": Node@launch, Model@ModelExecute
    std::int32_t track = -1;    ///< the thread, the same as that of its framework operators
    StringId item{};            ///< of a launch the operator; databases do not tell
    std::int64_t model = -1;    ///< of Model@ModelExecute the model; databases do not tell
    std::int64_t request = -1;  ///< of Model@ModelExecute the iteration of the model, likewise
    std::int64_t connection =
        -1;  ///< device work that it launched carries the same, see DeviceRuns
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name;
  std::vector<std::int32_t> track;
  std::vector<StringId> item;
  std::vector<std::int64_t> model, request, connection;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.track, t.item, t.model, t.request, t.connection);
  }
};

/// Moments within calls of the runtime that launched device work, of captures that tell no more of
/// the calls (texts of Level0).
struct CallStamps : TableBase<CallStamps> {
  struct Row {
    TimeNs time = 0;
    std::int32_t track = -1;       ///< the thread
    std::int64_t connection = -1;  ///< see HostCalls
  };
  std::vector<TimeNs> time;
  std::vector<std::int32_t> track;
  std::vector<std::int64_t> connection;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.track, t.connection);
  }
};

/// Times in which the Python of the rank collected garbage.
struct GarbageCollections : TableBase<GarbageCollections> {
  struct Row {
    TimeNs start = 0, dur = 0;
  };
  std::vector<TimeNs> start, dur;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur);
  }
};

/// Host launch -> device work. `link` names the connection; a kernel carries the same number.
struct Launches : TableBase<Launches> {
  struct Row {
    std::int64_t link = -1;
    TimeNs host_time = 0;          ///< start of the launching host operator
    std::int32_t host_track = -1;  ///< thread that launched
    TimeNs device_time = -1;       ///< start of the device work; -1: only `link` tells
    std::int64_t stream = -1;      ///< stream of the device work, when device_time is known
  };
  std::vector<std::int64_t> link;
  std::vector<TimeNs> host_time;
  std::vector<std::int32_t> host_track;
  std::vector<TimeNs> device_time;
  std::vector<std::int64_t> stream;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.link, t.host_time, t.host_track, t.device_time, t.stream);
  }
};

/// Compute kernels with what is known of them. Counters are times in ns, -1: not measured.
struct Kernels : TableBase<Kernels> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{}, op_type{};
    /// AI_CORE, AI_VECTOR_CORE, MIX_AIC, ...; or the runtime's KERNEL_AICORE, ...
    StringId core{};
    StringId shapes{};  ///< of the inputs, "\"32,3,224,224\""
    // More of the tensors, one after the other, separated by ';'.
    StringId input_types{};     ///< "FLOAT16;DT_BF16"
    StringId input_formats{};   ///< "FORMAT_ND;NCHW;FRACTAL_NZ"
    StringId output_shapes{};   ///< as `shapes`
    StringId output_formats{};  ///< as `input_formats`
    StringId hf32{};            ///< whether FP32 is multiplied as HF32: YES, NO
    std::int64_t task_id = -1;
    std::int64_t stream = -1;
    std::int64_t link = -1;  ///< see Launches
    std::int32_t step = -1;  ///< step id that the profiler wrote beside the kernel
    TimeNs aic_total = -1;   ///< cube core busy (aicore_time, aic_total_time)
    TimeNs aic_mac = -1;     ///< matrix unit busy (aic_mac_time, mac_time)
    TimeNs aic_mte2 = -1;    ///< loads into the cube core
    TimeNs aiv_total = -1;   ///< vector core busy (aiv_time, aiv_total_time)
    TimeNs aiv_vec = -1;     ///< vector unit busy
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name, op_type, core, shapes;
  std::vector<StringId> input_types, input_formats, output_shapes, output_formats, hf32;
  std::vector<std::int64_t> task_id, stream, link;
  std::vector<std::int32_t> step;
  std::vector<TimeNs> aic_total, aic_mac, aic_mte2, aiv_total, aiv_vec;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.op_type, t.core, t.shapes, t.input_types,
                    t.input_formats, t.output_shapes, t.output_formats, t.hf32, t.task_id, t.stream,
                    t.link, t.step, t.aic_total, t.aic_mac, t.aic_mte2, t.aiv_total, t.aiv_vec);
  }
};

/// The rows of kernel_details.csv as databases tell them: kernels, collectives, and kernels that
/// only arrange collectives, each with all that is recorded of it. Numbers: -1 is not recorded.
struct ListedKernels : TableBase<ListedKernels> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{}, op_type{}, core{}, state{};
    StringId input_shapes{}, input_types{}, input_formats{};
    StringId output_shapes{}, output_types{}, output_formats{};
    StringId hf32{};
    std::int64_t id = -1;  ///< of the task in the capture; see CounterValues
    std::int64_t device = -1, model = -1, stream = -1, context = -1, task = -1;
    std::int64_t blocks = -1, mix_blocks = -1;
    std::int64_t link = -1;  ///< see Launches
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name, op_type, core, state;
  std::vector<StringId> input_shapes, input_types, input_formats;
  std::vector<StringId> output_shapes, output_types, output_formats, hf32;
  std::vector<std::int64_t> id, device, model, stream, context, task, blocks, mix_blocks, link;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.op_type, t.core, t.state, t.input_shapes,
                    t.input_types, t.input_formats, t.output_shapes, t.output_types,
                    t.output_formats, t.hf32, t.id, t.device, t.model, t.stream, t.context, t.task,
                    t.blocks, t.mix_blocks, t.link);
  }
};

/// What the hardware counted for the listed kernels; times are ns.
struct CounterValues : TableBase<CounterValues> {
  struct Row {
    std::int64_t kernel = -1;  ///< ListedKernels.id
    StringId name{};           ///< "aic_total_time", "aic_mac_ratio"
    double value = 0;
  };
  std::vector<std::int64_t> kernel;
  std::vector<StringId> name;
  std::vector<double> value;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.kernel, t.name, t.value);
  }
};

/// The devices on which the rank may have run, and how fast they are at best.
struct Chips : TableBase<Chips> {
  struct Row {
    std::int64_t device = -1;
    std::int64_t cube_cores = 0;    ///< that multiply matrices
    std::int64_t vector_cores = 0;  ///< apart from the cube cores; 0 where one core does both
    double cube_mhz = 0;            ///< nominal
  };
  std::vector<std::int64_t> device, cube_cores, vector_cores;
  std::vector<double> cube_mhz;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.device, t.cube_cores, t.vector_cores, t.cube_mhz);
  }
};

/// The clock of the cube cores as it was measured, in order of start; each value holds until the
/// next.
struct CoreClocks : TableBase<CoreClocks> {
  struct Row {
    TimeNs start = 0;
    std::int64_t mhz = 0;
  };
  std::vector<TimeNs> start;
  std::vector<std::int64_t> mhz;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.mhz);
  }
};

/// Everything that occupied a device stream: kernels, copies, event waits, markers.
struct DeviceTasks : TableBase<DeviceTasks> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{};  ///< databases record it of copies only
    StringId type{};  ///< AI_CORE, KERNEL_AIVEC, EVENT_WAIT_SQE, SDMA_SQE, gpu_memcpy, ...
    std::int64_t task_id = -1;
    std::int64_t stream = -1;
    std::int64_t link = -1;
    /// What `dur` lacks of the duration, in ns: some versions write durations finer than that.
    double dur_rest = 0;
    std::int64_t connection = -1;  ///< the host call that launched it, see HostCalls
    std::int64_t model = -1;       ///< compiled model or graph that it is part of
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name, type;
  std::vector<std::int64_t> task_id, stream, link;
  std::vector<double> dur_rest;
  std::vector<std::int64_t> connection, model;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.type, t.task_id, t.stream, t.link, t.dur_rest,
                    t.connection, t.model);
  }
};

/// What a run of the device is.
enum class DeviceRunKind : std::uint8_t { kKernel, kCollective };

/// What the devices computed and communicated, as the timeline shows it: with the host call that
/// launched it and the compiled model it belongs to, without what only waits, copies or marks.
/// Unlike Kernels it needs no file beside the timeline.
struct DeviceRuns : TableBase<DeviceRuns> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{};
    DeviceRunKind kind{};
    std::int64_t connection = -1;  ///< see HostCalls
    std::int64_t model = -1;       ///< -1: launched by itself, not as part of a model
    std::int64_t pid = -1;         ///< process that owns the work; -1: the capture does not say
    std::int64_t device = -1;      ///< number of the device
    std::int64_t stream = -1;      ///< of a kernel
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name;
  std::vector<DeviceRunKind> kind;
  std::vector<std::int64_t> connection, model, pid, device, stream;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.kind, t.connection, t.model, t.pid, t.device,
                    t.stream);
  }
};

/// Runs of compiled models on the device (the track "Step Trace" of text captures).
struct ModelIterations : TableBase<ModelIterations> {
  struct Row {
    TimeNs start = 0, dur = 0;
    std::int64_t model = -1;
    std::int64_t iteration = -1;  ///< counted for each model; HostCalls.request names it
  };
  std::vector<TimeNs> start, dur;
  std::vector<std::int64_t> model, iteration;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.model, t.iteration);
  }
};

/// The name of the group to which planes of no group belong.
inline constexpr std::string_view kUnknownGroup = "Unknown Group";

/// Communication groups. Row number = group.
struct CommGroups : TableBase<CommGroups> {
  struct Row {
    StringId name{};           ///< as the capture writes it ("Group 0 Communication", "host%eth_0")
    StringId process_group{};  ///< the job's own name for it ("dp", "tp"), if recorded
    std::int32_t ranks = 0;    ///< how many belong to it; 0: not recorded
  };
  std::vector<StringId> name, process_group;
  std::vector<std::int32_t> ranks;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.name, t.process_group, t.ranks);
  }
};

/// Collective and point-to-point operations.
struct Communications : TableBase<Communications> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{};     ///< hcom_allReduce__868_0_1, ncclKernel_AllReduce_...
    StringId op_type{};  ///< hcom_allReduce_ (databases), otherwise as `name`
    std::int32_t group = -1;
    std::int64_t link = -1;
    std::int64_t op_id = -1;  ///< see CommTasks
    double dur_rest = 0;      ///< see DeviceTasks
    StringId data_type{};     ///< of its elements, "FP16"; empty where the capture does not say
    std::int64_t count = -1;  ///< of elements
    std::int64_t connection = -1;  ///< the host call that launched it, see HostCalls
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name, op_type;
  std::vector<std::int32_t> group;
  std::vector<std::int64_t> link, op_id;
  std::vector<double> dur_rest;
  std::vector<StringId> data_type;
  std::vector<std::int64_t> count, connection;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.op_type, t.group, t.link, t.op_id, t.dur_rest,
                    t.data_type, t.count, t.connection);
  }
};

/// The pieces of collectives: Memcpy, Reduce_Inline, Notify_Wait, RDMASend, ... on a plane.
struct CommTasks : TableBase<CommTasks> {
  struct Row {
    TimeNs start = 0, dur = 0;
    StringId name{};
    std::int32_t group = -1;
    std::int64_t plane = -1;
    std::int64_t op_id = -1;  ///< of its communication; -1 where only the times tell
    double dur_rest = 0;      ///< see DeviceTasks
    /// Ranks are numbers within the group. A wait names the rank that it waits for; -1 for none,
    /// and where the capture does not say.
    std::int32_t own_rank = -1, peer = -1;
    std::int64_t bytes = -1;
    StringId transport{};      ///< "SDMA", "RDMA", "LOCAL"
    StringId link_type{};      ///< "HCCS", "ON_CHIP", "PCIE", "ROCE", ...
    StringId rdma_type{};      ///< "RDMA_SEND_PAYLOAD", "RDMA_SEND_NOTIFY"; texts do not tell
    std::int64_t notify = -1;  ///< the signal that is sent or awaited
    std::int64_t stream = -1;
  };
  std::vector<TimeNs> start, dur;
  std::vector<StringId> name;
  std::vector<std::int32_t> group;
  std::vector<std::int64_t> plane, op_id;
  std::vector<double> dur_rest;
  std::vector<std::int32_t> own_rank, peer;
  std::vector<std::int64_t> bytes;
  std::vector<StringId> transport, link_type, rdma_type;
  std::vector<std::int64_t> notify, stream;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.name, t.group, t.plane, t.op_id, t.dur_rest, t.own_rank,
                    t.peer, t.bytes, t.transport, t.link_type, t.rdma_type, t.notify, t.stream);
  }
};

/// What the profiler's own overlap analysis says the device did.
enum class Activity : std::uint8_t { kComputing, kCommunication, kExposedCommunication, kFree };

struct Overlaps : TableBase<Overlaps> {
  struct Row {
    TimeNs start = 0, dur = 0;
    Activity activity{};
  };
  std::vector<TimeNs> start, dur;
  std::vector<Activity> activity;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.start, t.dur, t.activity);
  }
};

/// Device memory over time, as the allocators report it.
struct MemorySamples : TableBase<MemorySamples> {
  struct Row {
    TimeNs time = 0;
    StringId component{};  ///< PTA, GE, APP, ...
    std::int64_t reserved_bytes = 0;
  };
  std::vector<TimeNs> time;
  std::vector<StringId> component;
  std::vector<std::int64_t> reserved_bytes;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.time, t.component, t.reserved_bytes);
  }
};

/// The life of one allocation of an operator.
struct Allocations : TableBase<Allocations> {
  struct Row {
    StringId name{};
    std::int64_t bytes = 0;
    TimeNs allocated = -1, released = -1;
  };
  std::vector<StringId> name;
  std::vector<std::int64_t> bytes;
  std::vector<TimeNs> allocated, released;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.name, t.bytes, t.allocated, t.released);
  }
};

/// Kernel times summed by type, as op_statistic.csv has them.
struct KernelStatistics : TableBase<KernelStatistics> {
  struct Row {
    StringId op_type{}, core{};
    std::int64_t count = 0;
    TimeNs total = 0, min = 0, avg = 0, max = 0;
  };
  std::vector<StringId> op_type, core;
  std::vector<std::int64_t> count;
  std::vector<TimeNs> total, min, avg, max;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.op_type, t.core, t.count, t.total, t.min, t.avg, t.max);
  }
};

enum class Transport : std::uint8_t { kRdma, kSdma };

/// Bytes moved by the collectives of one step over one kind of link.
struct Transfers : TableBase<Transfers> {
  struct Row {
    std::int32_t step = -1;
    Transport transport{};
    std::int64_t bytes = 0;
    TimeNs time = 0;
  };
  std::vector<std::int32_t> step;
  std::vector<Transport> transport;
  std::vector<std::int64_t> bytes;
  std::vector<TimeNs> time;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.step, t.transport, t.bytes, t.time);
  }
};

/// Iterations: the span of ProfilerStep#id on the host.
struct Steps : TableBase<Steps> {
  struct Row {
    std::int32_t id = -1;
    TimeNs start = 0, end = 0;
  };
  std::vector<std::int32_t> id;
  std::vector<TimeNs> start, end;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.id, t.start, t.end);
  }
};

/// What step_trace_time.csv or the table StepTraceTime says of one step.
struct StepTimes : TableBase<StepTimes> {
  struct Row {
    std::int32_t step = -1;
    TimeNs computing = 0, exposed_communication = 0, communication = 0, free = 0;
    TimeNs overlapped = 0;  ///< communication while something is computed
    TimeNs stage = 0;       ///< the step without `bubble`
    TimeNs bubble = 0;      ///< waiting to receive
    TimeNs exposed_without_receive = 0;
    TimeNs preparing = 0;  ///< start of the step on the host to its first device work
  };
  std::vector<std::int32_t> step;
  std::vector<TimeNs> computing, exposed_communication, communication, free;
  std::vector<TimeNs> overlapped, stage, bubble, exposed_without_receive, preparing;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.step, t.computing, t.exposed_communication, t.communication, t.free,
                    t.overlapped, t.stage, t.bubble, t.exposed_without_receive, t.preparing);
  }
};

}  // namespace mpa
