// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/device_tables.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// What ran on the devices (PROF_*), collectives and their pieces among it, joined with the host
/// records that launched it.
namespace mpa::raw {

/// The context of a task that is not part of an FFTS+ group, and of the group itself.
inline constexpr std::int64_t kNoContext = 0xFFFFFFFF;
/// The model of a task that belongs to none.
inline constexpr std::int64_t kNoModel = 0xFFFFFFFF;

/// The kind of a device task.
enum class TaskKind : std::uint8_t {
  kOther,           ///< events, copies, waits
  kKernel,          ///< `detail` is its row in Kernels
  kCollectivePart,  ///< `detail` is its row in CollectiveParts
};

/// Everything that ran on a device, joined with the host record that launched it. In order of
/// start, then of stream, task and context. The model of a task without one is kNoModel; names,
/// types, links, connections, numbers and directions are not set.
template <template <typename> class Of>
struct TaskRecordFields {
  Of<TimeNs> end{};            ///< rounded, as the start is, where a tick is a fraction of a ns
  Of<StringId> host_type{};    ///< "KERNEL_AICORE", "MEMCPY_ASYNC"; empty: no host record
  Of<StringId> device_type{};  ///< "AI_CORE", "SDMA_SQE", of an FFTS+ context "AIC", "MIX_AIC"
  Of<StringId> function{};     ///< name of the kernel function in the host record, or empty
  Of<std::int64_t> device{};   ///< number of the device
  Of<std::int64_t> batch{}, context = Initially{kNoContext};
  Of<std::int64_t> thread = Initially{-1};  ///< that issued it; -1 without host record
  Of<TimeNs> issued = Initially{-1};        ///< time of the host record
  Of<std::int32_t> call =
      Initially{-1};  ///< row in HostCalls that is its connection; -1: none around it
  Of<TaskKind> kind{};
  Of<std::int32_t> detail = Initially{-1};
  // Of a copy between memories.
  Of<std::int64_t> copy_bytes{};                    ///< 0 where the host did not record it
  Of<std::int64_t> copy_direction = Initially{-1};  ///< as in CopyDirections(); 65535: other
  Of<bool> group{};  ///< task around the contexts of an FFTS+ group: not in the timeline
};
struct Tasks : Table<DeviceTaskFields, TaskRecordFields> {
  /// The duration with its fraction, in ns.
  double Exact(std::size_t i) const { return static_cast<double>(dur[i]) + dur_rest[i]; }
};

/// Compute kernels. In the order of their tasks. Texts are "N/A" at level 0, where only name and
/// block number are recorded.
template <template <typename> class Of>
struct KernelTaskFields {
  Of<std::int32_t> task = Initially{-1};      ///< row in Tasks
  Of<StringId> attributes{};                  ///< JSON text, or "N/A"
  Of<std::int32_t> counters = Initially{-1};  ///< row in Counters
};
struct Kernels : Table<KernelDescriptionFields, KernelTaskFields> {};

/// The counters of kernels, derived from the metric set of the capture. One row per kernel, one
/// value per metric: values[row * names.size() + metric].
struct Counters {
  /// "aicore_time", "aic_total_cycles", "aic_mac_ratio", ..., "cube_utilization" in the order of
  /// the columns of kernel_details.csv, without the unit. Times are in ns.
  std::vector<std::string> names;
  std::vector<double> values;  ///< NaN: does not apply to the kernel

  std::size_t Size() const { return names.empty() ? 0 : values.size() / names.size(); }
};

/// The AI CPU's own records of the kernels that it ran. In order of start.
template <template <typename> class Of>
struct AiCpuKernelFields {
  Of<TimeNs> start{};
  Of<TimeNs> dur{};                    ///< ns
  Of<StringId> name{};                 ///< of the kernel; "N/A" where none ran then
  Of<std::int64_t> compute{}, copy{};  ///< µs
  Of<std::int64_t> dispatch{};         ///< µs
  Of<TimeNs> total{};                  ///< ns from the submission to the end
  Of<std::int64_t> device{}, stream = Initially{-1}, task = Initially{-1};
};
struct AiCpuKernels : Table<AiCpuKernelFields> {};

/// Collective and point-to-point operations. In order of issue.
template <template <typename> class Of>
struct CollectiveFields {
  Of<TimeNs> start{}, end{};  ///< first start to last end of its master parts
  Of<double> dur{};           ///< ns, exact
  Of<StringId> name{};        ///< "hcom_allReduce__586_0_1"
  Of<StringId> op_type{};     ///< "hcom_allReduce_"
  Of<StringId> group{};       ///< hash of the group name, decimal
  Of<StringId> group_name{};  ///< text of it; the hash again where the dictionary lacks it
  Of<StringId> algorithm{};   ///< "MESH-RING"; "N/A"
  Of<std::int64_t> data_type = Initially{255};
  Of<std::int64_t> count{};  ///< elements
  Of<std::int64_t> relay{}, retry{};
  Of<std::int64_t> rank_size{};
  Of<std::int64_t> device{};
  Of<std::int64_t> model = Initially{kNoModel};
  Of<std::int32_t> call = Initially{-1};  ///< row in HostCalls: its node range
};
struct Collectives : Table<CollectiveFields> {};

/// The pieces of collectives. In the order of their tasks.
template <template <typename> class Of>
struct CollectivePartFields {
  Of<std::int32_t> task = Initially{-1};        ///< row in Tasks
  Of<std::int32_t> collective = Initially{-1};  ///< row in Collectives
  Of<StringId> name{};                          ///< "Memcpy", "Notify_Wait", "RDMASend"
  Of<std::int64_t> plane = Initially{-1};
  Of<bool> master{};
  Of<std::uint64_t> notify = Initially{0xFFFFFFFF};
  Of<std::int64_t> local_rank{};
  Of<std::int64_t> remote_rank = Initially{0xFFFFFFFF};  ///< as recorded; 0xFFFFFFFF: none
  Of<std::int64_t> bytes{};
  // Numbers as recorded; the tables of names are in raw/labels.h.
  Of<std::int64_t> transport = Initially{-1}, data_type = Initially{-1}, link = Initially{-1},
                   rdma = Initially{-1};
  Of<double> estimated{};  ///< duration estimated by the library, µs
  Of<double> bandwidth{};  ///< bytes per second
};
struct CollectiveParts : Table<CollectivePartFields> {};

}  // namespace mpa::raw
