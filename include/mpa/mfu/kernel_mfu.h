// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/measure/kernel_class.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/op_tree.h"
#include "mpa/mfu/chip_peak.h"
#include "mpa/model/op_values.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// Operations that the program counted itself, with the arguments of the call at hand.
struct RecordedFlops {
  std::int64_t count = 0;
  std::string name;  ///< of the call: "aten::conv2d", "npu_fusion_attention"
};

/// Reads the label of a range of the domain mfu_flops, "<operations>-<name>". Empty for any other
/// text, and for no operations at all.
std::optional<RecordedFlops> ParseRecordedFlops(std::string_view label);

enum class FlopsSource : std::uint8_t {
  kNone,
  kRecorded,  ///< ranges of the mstx domain mfu_flops
  kShapes,    ///< computed from the shapes of the kernel's tensors, of a GPU from its operator's
};

/// How much of the chip a kernel used.
struct KernelMfu {
  std::int64_t op = -1;     ///< row of the host operator that launched it
  std::int64_t range = -1;  ///< position in RankMfu::ranges: operations were recorded around it
  FlopsSource source = FlopsSource::kNone;
  /// Of a GPU: the operator whose inputs tell the operations, the one that launched it or one
  /// around that; -1: none. Its kernels have their shares of its operations.
  std::int64_t counted_op = -1;
  KernelClass work = KernelClass::kOther;  ///< of a GPU: which matrix work it does, if any
  Flops flops;                             ///< the kernel's own; of a recorded range its share
  TypeClass type = TypeClass::kUnknown;
  double peak_tflops = 0;  ///< with this type; 0: unknown
  Utilisation use;
  std::optional<double> use_of_measured_clock;
};

struct RankMfu {
  std::vector<KernelMfu> kernels;  ///< of each row of the kernels
  std::vector<RecordedFlops> ranges;
};

/// What FindKernelMfu() needs beside what FindOpWork() does.
constexpr Tables kMfuTables =
    Tables::kKernelTensors | Tables::kMstx | Tables::kChips | Tables::kCoreClocks | kOpValues;

/// Which operations count.
enum class MfuRule : std::uint8_t {
  kRangesAndShapes,  ///< as FindKernelMfu() says
  /// As the Python tool has it: recorded ones only, and each kernel of a range that has shapes has
  /// all of them.
  /// Their type is that of the range's first kernel, INT8 or otherwise FP16.
  kRangesOnly,
};

/// The utilisation of every kernel. Recorded operations come before those by shapes: the kernels of
/// a range that multiply matrices share its operations, by their operations by shapes or, where
/// these are not known of all, by their durations. Of a GPU, the kernels of an operator that do
/// matrix work share its operations by their durations. Matrix work that is not counted has the
/// reason as its gap, other work kUnknownOperator or kNotMatrixWork. `chip`: see ChipOf().
RankMfu FindKernelMfu(const RankTrace& trace, const ThreadGroups& groups, const AllOpWork& work,
                      const ChipPeak& chip, MfuRule rule = MfuRule::kRangesAndShapes);

}  // namespace mpa
