// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table_base.h"

/// Compute kernels, their hardware counters, and the chips that ran them.
namespace mpa {

/// Compute kernels with their details. Counters are times in ns, -1: not measured.
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

/// How the kernels used their cores: row i is of row i of Kernels. Empty unless it was asked for.
/// Shares of the time of a core are thousandths, as text captures have them; -1: not measured.
struct KernelLoads : TableBase<KernelLoads> {
  struct Row {
    StringId output_types{};  ///< as Kernels.input_types
    std::int32_t blocks = -1, mix_blocks = -1;
    // Of the cube core; of the only core where one does both.
    std::int16_t aic_mac = -1, aic_scalar = -1, aic_mte1 = -1, aic_mte2 = -1, aic_fixpipe = -1;
    // Of the vector core.
    std::int16_t aiv_vec = -1, aiv_scalar = -1, aiv_mte2 = -1, aiv_mte3 = -1;
    // What the units took that Kernels leaves out, in ns; -1: not measured.
    TimeNs aic_fixpipe_time = -1;  ///< stores from the cube core
    TimeNs aiv_mte2_time = -1;     ///< loads into the vector core
    TimeNs aiv_mte3_time = -1;     ///< stores from the vector core
  };
  std::vector<StringId> output_types;
  std::vector<std::int32_t> blocks, mix_blocks;
  std::vector<std::int16_t> aic_mac, aic_scalar, aic_mte1, aic_mte2, aic_fixpipe;
  std::vector<std::int16_t> aiv_vec, aiv_scalar, aiv_mte2, aiv_mte3;
  std::vector<TimeNs> aic_fixpipe_time, aiv_mte2_time, aiv_mte3_time;

  template <typename T>
  static auto Tie(T& t) {
    return std::tie(t.output_types, t.blocks, t.mix_blocks, t.aic_mac, t.aic_scalar, t.aic_mte1,
                    t.aic_mte2, t.aic_fixpipe, t.aiv_vec, t.aiv_scalar, t.aiv_mte2, t.aiv_mte3,
                    t.aic_fixpipe_time, t.aiv_mte2_time, t.aiv_mte3_time);
  }
};

/// The rows of kernel_details.csv as databases contain them: kernels, collectives, and kernels that
/// only arrange collectives, each with all recorded details. Numbers: -1 is not recorded.
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

/// The hardware counters of the listed kernels; times are ns.
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

/// The devices on which the rank may have run, and their best speed.
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

/// The measured clock of the cube cores, in order of start; each value holds until the next.
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

}  // namespace mpa
