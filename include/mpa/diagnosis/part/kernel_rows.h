// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/model/rank_trace.h"

/// Kernels that make little use of their cores.
namespace mpa {

/// How long a kernel kept the units of its cores busy, in thousandths of the time; of a kernel that
/// runs on both kinds of cores the busier ones count. -1: not measured.
struct UnitLoads {
  std::int16_t vec = -1, mac = -1, scalar = -1, mte1 = -1, mte2 = -1, mte3 = -1, fixpipe = -1;
};

/// What KernelRow has of the tensors, in this order.
enum class TensorText : std::uint8_t {
  kInputShapes,
  kInputTypes,
  kInputFormats,
  kOutputShapes,
  kOutputTypes,
  kOutputFormats
};
inline constexpr std::size_t kTensorTexts = 6;

struct KernelRow {
  std::string name, type, core;
  TimeNs dur = 0;
  std::int32_t blocks = -1, mix_blocks = -1;
  std::int32_t cores = 0;  ///< that the device has of the kind; 0: unknown
  UnitLoads loads;
  std::array<std::string, kTensorTexts> tensors;
};

/// Kernels of one kind, the longest first; those that are too many are counted only.
struct KernelList {
  std::vector<KernelRow> rows;
  std::int64_t count = 0;
  TimeNs time = 0;
};

/// The clock of the cores while the kernels of one name ran.
struct ClockRow {
  std::string name;
  std::int64_t count = 0;
  TimeNs time = 0;
  double mhz = 0;  ///< mean, weighted by time
  std::int64_t least = 0, most = 0;
};

/// True for the kind of core of a kernel on the AI CPU.
bool IsAiCpu(std::string_view core);

/// Kernels whose blocks do not fill the cores of the device in the last round. Empty where neither
/// is known.
KernelList KernelsOnSomeCores(const RankTrace& trace);

/// Kernels that keep no unit of their cores busy for most of their time. Empty unless one of them
/// is long.
KernelList KernelsWithoutBound(const RankTrace& trace);

/// By name, those that took most time first. Empty where the clock was not measured.
std::vector<ClockRow> ClocksOfKernels(const RankTrace& trace);

}  // namespace mpa
