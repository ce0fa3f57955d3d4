// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// Compute kernels, their hardware counters, and the chips that ran them.
namespace mpa {

/// Compute kernels with their details. Counters are times in ns, -1: not measured.
template <template <typename> class Of>
struct KernelFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{}, op_type{};
  /// AI_CORE, AI_VECTOR_CORE, MIX_AIC, ...; or the runtime's KERNEL_AICORE, ...
  Of<StringId> core{};
  Of<StringId> shapes{};  ///< of the inputs, "\"32,3,224,224\""
  // More of the tensors, one after the other, separated by ';'.
  Of<StringId> input_types{};     ///< "FLOAT16;DT_BF16"
  Of<StringId> input_formats{};   ///< "FORMAT_ND;NCHW;FRACTAL_NZ"
  Of<StringId> output_shapes{};   ///< as `shapes`
  Of<StringId> output_formats{};  ///< as `input_formats`
  Of<StringId> hf32{};            ///< whether FP32 is multiplied as HF32: YES, NO
  Of<std::int64_t> task_id = Initially{-1};
  Of<std::int64_t> stream = Initially{-1};
  Of<std::int64_t> link = Initially{-1};  ///< see Launches
  Of<std::int32_t> step = Initially{-1};  ///< step id that the profiler wrote beside the kernel
  Of<TimeNs> aic_total = Initially{-1};   ///< cube core busy (aicore_time, aic_total_time)
  Of<TimeNs> aic_mac = Initially{-1};     ///< matrix unit busy (aic_mac_time, mac_time)
  Of<TimeNs> aic_mte2 = Initially{-1};    ///< loads into the cube core
  Of<TimeNs> aiv_total = Initially{-1};   ///< vector core busy (aiv_time, aiv_total_time)
  Of<TimeNs> aiv_vec = Initially{-1};     ///< vector unit busy
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
};
struct KernelLoads : Table<KernelLoadFields> {};

/// The rows of kernel_details.csv as databases contain them: kernels, collectives, and kernels that
/// only arrange collectives, each with all recorded details. Numbers: -1 is not recorded.
template <template <typename> class Of>
struct ListedKernelFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{}, op_type{}, core{}, state{};
  Of<StringId> input_shapes{}, input_types{}, input_formats{};
  Of<StringId> output_shapes{}, output_types{}, output_formats{};
  Of<StringId> hf32{};
  Of<std::int64_t> id = Initially{-1};  ///< of the task in the capture; see CounterValues
  Of<std::int64_t> device = Initially{-1}, model = Initially{-1}, stream = Initially{-1},
                   context = Initially{-1}, task = Initially{-1};
  Of<std::int64_t> blocks = Initially{-1}, mix_blocks = Initially{-1};
  Of<std::int64_t> link = Initially{-1};  ///< see Launches
};
struct ListedKernels : Table<ListedKernelFields> {};

/// The hardware counters of the listed kernels; times are ns.
template <template <typename> class Of>
struct CounterValueFields {
  Of<std::int64_t> kernel = Initially{-1};  ///< ListedKernels.id
  Of<StringId> name{};                      ///< "aic_total_time", "aic_mac_ratio"
  Of<double> value{};
};
struct CounterValues : Table<CounterValueFields> {};

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

}  // namespace mpa
