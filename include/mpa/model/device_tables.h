// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// What the device did: tasks, runs, compiled models, and its memory.
namespace mpa {

/// Between which memories a copy moves data.
enum class CopyDirection : std::uint8_t { kUnknown, kToDevice, kToHost, kWithinDevice };

/// Everything that occupied a device stream: kernels, copies, event waits, markers.
template <template <typename> class Of>
struct DeviceTaskFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{};  ///< databases record it of copies only
  Of<StringId> type{};  ///< AI_CORE, KERNEL_AIVEC, EVENT_WAIT_SQE, SDMA_SQE, gpu_memcpy, ...
  Of<std::int64_t> task_id = Initially{-1};
  Of<std::int64_t> stream = Initially{-1};
  Of<std::int64_t> link = Initially{-1};
  /// The fraction of the duration that `dur` cannot hold, in ns: some versions write finer
  /// durations.
  Of<Rare<double>> dur_rest{};
  Of<std::int64_t> connection = Initially{-1};   ///< the host call that launched it, see HostCalls
  Of<Rare<std::int64_t>> model = Initially{-1};  ///< compiled model or graph that it is part of
  Of<std::int64_t> number = Initially{-1};  ///< on its stream; of a graph the same in each replay
  Of<Rare<CopyDirection>> direction{};      ///< of a copy, where the capture tells
};
struct DeviceTasks : Table<DeviceTaskFields> {};

/// What the devices computed and communicated, as the timeline shows it, with the host call that
/// launched it and the compiled model it belongs to. Waits, copies and marks are left out. Unlike
/// Kernels it needs no file other than the timeline; unlike DeviceTasks it has the names of kernels
/// in databases, too, and the work of every device and process of a trace.
template <template <typename> class Of>
struct DeviceRunFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{};
  Of<bool> is_collective{};                      ///< else a kernel
  Of<std::int64_t> connection = Initially{-1};   ///< see HostCalls
  Of<Rare<std::int64_t>> model = Initially{-1};  ///< -1: launched by itself, not as part of a model
  Of<Rare<std::int64_t>> pid =
      Initially{-1};  ///< process that owns the work; -1: the capture does not say
  Of<Rare<std::int64_t>> device = Initially{-1};  ///< number of the device
  Of<std::int64_t> stream = Initially{-1};        ///< of a kernel
};
struct DeviceRuns : Table<DeviceRunFields> {};

/// Runs of compiled models on the device (the track "Step Trace" of text captures).
template <template <typename> class Of>
struct ModelIterationFields {
  Of<TimeNs> start{}, dur{};
  Of<std::int64_t> model = Initially{-1};
  Of<std::int64_t> iteration =
      Initially{-1};  ///< counted for each model; HostCalls.request names it
};
struct ModelIterations : Table<ModelIterationFields> {};

/// What the device did according to the profiler's own overlap analysis; of one device and activity
/// the intervals are disjoint.
enum class Activity : std::uint8_t { kComputing, kCommunication, kExposedCommunication, kFree };

template <template <typename> class Of>
struct OverlapFields {
  Of<TimeNs> start{}, dur{};
  Of<Activity> activity{};
  Of<std::int64_t> device = Initially{-1};  ///< raw captures alone may hold several
};
struct Overlaps : Table<OverlapFields> {};

/// Device memory over time, as the allocators report it.
template <template <typename> class Of>
struct MemorySampleFields {
  Of<TimeNs> time{};
  Of<StringId> component{};  ///< PTA, GE, APP, ...
  Of<std::int64_t> reserved_bytes{};
  Of<std::int64_t> allocated_bytes =
      Initially{-1};  ///< of those, what tensors hold; -1: not recorded
};
struct MemorySamples : Table<MemorySampleFields> {};

/// What the framework listed the memory as. Only raw captures say.
enum class TensorRole : std::uint8_t { kNotListed, kParameter, kGradient, kOptimizerState };

/// The life of one allocation of an operator.
template <template <typename> class Of>
struct AllocationFields {
  Of<StringId> name{};
  Of<std::int64_t> bytes{};
  Of<TimeNs> allocated = Initially{-1}, released = Initially{-1};  ///< -1: not in the capture
  Of<TensorRole> role{};
};
struct Allocations : Table<AllocationFields> {};

// Compute kernels, their hardware counters, and the chips that ran them.

/// Compute kernels with their details. Counters are times in ns, -1: not measured.
template <template <typename> class Of>
struct KernelFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{}, op_type{};
  /// AI_CORE, AI_VECTOR_CORE, MIX_AIC, ...; or the runtime's KERNEL_AICORE, ...
  Of<StringId> core{};
  Of<StringId> shapes{};  ///< of the inputs, "\"32,3,224,224\""
  // More of the tensors, one after the other, separated by ';'.
  Of<Rare<StringId>> input_types{};     ///< "FLOAT16;DT_BF16"
  Of<Rare<StringId>> input_formats{};   ///< "FORMAT_ND;NCHW;FRACTAL_NZ"
  Of<Rare<StringId>> output_shapes{};   ///< as `shapes`
  Of<Rare<StringId>> output_formats{};  ///< as `input_formats`
  Of<Rare<StringId>> hf32{};            ///< whether FP32 is multiplied as HF32: YES, NO
  Of<std::int64_t> task_id = Initially{-1};
  Of<std::int64_t> stream = Initially{-1};
  Of<std::int64_t> link = Initially{-1};        ///< see Launches
  Of<Rare<std::int32_t>> step = Initially{-1};  ///< that the profiler wrote beside the kernel
  Of<Rare<TimeNs>> aic_total = Initially{-1};   ///< cube core busy (aicore_time, aic_total_time)
  Of<Rare<TimeNs>> aic_mac = Initially{-1};     ///< matrix unit busy (aic_mac_time, mac_time)
  Of<Rare<TimeNs>> aic_mte2 = Initially{-1};    ///< loads into the cube core
  Of<Rare<TimeNs>> aiv_total = Initially{-1};   ///< vector core busy (aiv_time, aiv_total_time)
  Of<Rare<TimeNs>> aiv_vec = Initially{-1};     ///< vector unit busy
};
struct Kernels : Table<KernelFields> {};

/// How the kernels used their cores: row i is of row i of Kernels. Empty unless it was asked for.
/// Shares of the time of a core are thousandths, as text captures have them; -1: not measured.
template <template <typename> class Of>
struct KernelLoadFields {
  Of<StringId> output_types{};  ///< as Kernels.input_types
  Of<std::int32_t> blocks = Initially{-1}, mix_blocks = Initially{-1};
  // Of the cube core; of the only core where one does both.
  Of<std::int16_t> aic_mac = Initially{-1}, aic_scalar = Initially{-1}, aic_mte1 = Initially{-1},
                   aic_mte2 = Initially{-1}, aic_fixpipe = Initially{-1};
  // Of the vector core.
  Of<std::int16_t> aiv_vec = Initially{-1}, aiv_scalar = Initially{-1}, aiv_mte2 = Initially{-1},
                   aiv_mte3 = Initially{-1};
  // What the units took that Kernels leaves out, in ns; -1: not measured.
  Of<TimeNs> aic_fixpipe_time = Initially{-1};  ///< stores from the cube core
  Of<TimeNs> aiv_mte2_time = Initially{-1};     ///< loads into the vector core
  Of<TimeNs> aiv_mte3_time = Initially{-1};     ///< stores from the vector core
  Of<std::int64_t> task = Initially{-1};        ///< its number on the stream; not in databases
  Of<StringId> attributes{};  ///< of the operator (op_attr=True); empty: not recorded
  /// Every other counter in the order of RankTrace::counter_names: those of other aic_metrics in
  /// the unit of the capture, and how the kernel used the L2 cache. NaN, and those that are missing
  /// at the end, were not measured.
  Of<std::vector<double>> counters{};
};
struct KernelLoads : Table<KernelLoadFields> {};

/// What the capture says of a kernel itself. Numbers: -1 is not recorded.
template <template <typename> class Of>
struct KernelDescriptionFields {
  Of<StringId> name{}, op_type{};
  Of<StringId> core{};   ///< "AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "AI_CPU", "DSA_SQE", ...
  Of<StringId> state{};  ///< "dynamic", "static"
  // "\"32,3;16\"" with the quotes, "FLOAT16;DT_BF16", "ND;NCHW": one entry a tensor.
  Of<StringId> input_shapes{}, input_types{}, input_formats{};
  Of<StringId> output_shapes{}, output_types{}, output_formats{};
  Of<StringId> hf32{};  ///< "YES", "NO"
  Of<std::int64_t> blocks = Initially{-1}, mix_blocks = Initially{-1};
};

/// The rows of kernel_details.csv as databases contain them: kernels, collectives, and kernels that
/// only arrange collectives. Numbers: -1 is not recorded.
template <template <typename> class Of>
struct ListedKernelFields {
  Of<TimeNs> start{}, dur{};
  Of<std::int64_t> id = Initially{-1};  ///< of the task in a database
  Of<std::int64_t> device = Initially{-1}, model = Initially{-1}, stream = Initially{-1},
                   context = Initially{-1}, task = Initially{-1};
  Of<std::int64_t> link = Initially{-1};  ///< see Launches
  /// The hardware counters in the order of RankTrace::counter_names, times in ns. NaN, and those
  /// that are missing at the end, were not measured.
  Of<std::vector<double>> counters{};
};
struct ListedKernels : Table<KernelDescriptionFields, ListedKernelFields> {};

/// Kernel times summed by type, as op_statistic.csv has them.
template <template <typename> class Of>
struct KernelStatisticFields {
  Of<StringId> op_type{}, core{};
  Of<std::int64_t> count{};
  Of<TimeNs> total{}, min{}, max{};
};
struct KernelStatistics : Table<KernelStatisticFields> {};

/// The devices on which the rank may have run, and their best speed.
template <template <typename> class Of>
struct ChipFields {
  Of<std::int64_t> device = Initially{-1};
  Of<std::int64_t> cube_cores{};    ///< that multiply matrices
  Of<std::int64_t> vector_cores{};  ///< apart from the cube cores; 0 where one core does both
  Of<double> cube_mhz{};            ///< nominal
};
struct Chips : Table<ChipFields> {};

/// The measured clock of the cube cores, in order of start; each value holds until the next.
template <template <typename> class Of>
struct CoreClockFields {
  Of<TimeNs> start{};
  Of<std::int64_t> mhz{};
  Of<std::int64_t> device = Initially{-1};  ///< raw captures alone may hold several
};
struct CoreClocks : Table<CoreClockFields> {};

// Collectives, their pieces, and the amounts they moved.

/// The name of the group for planes that belong to no group.
inline constexpr std::string_view kUnknownGroup = "Unknown Group";

/// Communication groups. Row number = group.
template <template <typename> class Of>
struct CommGroupFields {
  Of<StringId> name{};  ///< as the capture writes it ("Group 0 Communication", "host%eth_0")
  Of<StringId> process_group{};  ///< the job's own name for it ("dp", "tp"), if recorded
  Of<std::int32_t> ranks{};      ///< how many belong to it; 0: not recorded
};
struct CommGroups : Table<CommGroupFields> {};

/// Collective and point-to-point operations.
template <template <typename> class Of>
struct CommunicationFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{};     ///< hcom_allReduce__868_0_1, ncclKernel_AllReduce_...
  Of<StringId> op_type{};  ///< hcom_allReduce_ (databases), otherwise as `name`
  Of<std::int32_t> group = Initially{-1};
  Of<std::int64_t> link = Initially{-1};
  Of<std::int64_t> op_id = Initially{-1};  ///< see CommTasks
  Of<double> dur_rest{};                   ///< see DeviceTasks
  Of<StringId> data_type{};  ///< of its elements, "FP16"; empty where the capture does not say
  Of<std::int64_t> count = Initially{-1};       ///< of elements
  Of<std::int64_t> connection = Initially{-1};  ///< the host call that launched it, see HostCalls
};
struct Communications : Table<CommunicationFields> {};

/// The pieces of collectives: Memcpy, Reduce_Inline, Notify_Wait, RDMASend, ... on a plane.
template <template <typename> class Of>
struct CommTaskFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{};
  Of<std::int32_t> group = Initially{-1};
  Of<std::int64_t> plane = Initially{-1};
  Of<std::int64_t> op_id = Initially{-1};  ///< of its communication; -1: only the times relate them
  Of<Rare<double>> dur_rest{};             ///< see DeviceTasks
  /// Ranks are numbers within the group. A wait names the rank that it waits for; -1 if there is
  /// none or the capture does not say.
  Of<std::int32_t> own_rank = Initially{-1}, peer = Initially{-1};
  Of<std::int64_t> bytes = Initially{-1};
  Of<StringId> transport{};        ///< "SDMA", "RDMA", "LOCAL"
  Of<Rare<StringId>> link_type{};  ///< "HCCS", "ON_CHIP", "PCIE", "ROCE", ...
  /// "RDMA_SEND_PAYLOAD", "RDMA_SEND_NOTIFY"; not in text captures.
  Of<Rare<StringId>> rdma_type{};
  Of<Rare<std::int64_t>> notify = Initially{-1};  ///< the signal that is sent or awaited
  Of<Rare<std::int64_t>> stream = Initially{-1};
};
struct CommTasks : Table<CommTaskFields> {};

enum class Transport : std::uint8_t { kRdma, kSdma };

/// Bytes moved by the collectives of one step over one kind of link.
template <template <typename> class Of>
struct TransferFields {
  Of<std::int32_t> step = Initially{-1};
  Of<Transport> transport{};
  Of<std::int64_t> bytes{};
  Of<TimeNs> time{};
};
struct Transfers : Table<TransferFields> {};

}  // namespace mpa
