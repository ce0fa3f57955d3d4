// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table_base.h"

/// What ran on the devices (PROF_*), joined with the host records that launched it.
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

/// The counters of kernels, derived from the metric set of the capture. One row per kernel, one
/// value per metric: values[row * names.size() + metric].
struct Counters {
  /// "aicore_time", "aic_total_cycles", "aic_mac_ratio", ..., "cube_utilization" in the order of
  /// the columns of kernel_details.csv, without the unit. Times are in ns.
  std::vector<std::string> names;
  std::vector<std::uint8_t> in_database;  ///< whether TASK_PMU_INFO has the metric
  std::vector<double> values;             ///< NaN: does not apply to the kernel

  std::size_t Size() const { return names.empty() ? 0 : values.size() / names.size(); }
};

/// The AI CPU's own records of the kernels that it ran. In order of start.
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
