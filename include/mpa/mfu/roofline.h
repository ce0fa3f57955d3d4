// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpa/mfu/chip_peak.h"
#include "mpa/mfu/kernel_mfu.h"
#include "mpa/mfu/shapes.h"
#include "mpa/model/rank_trace.h"
#include "mpa/report/page.h"

/// How fast kernels were, by the operations that they do for each byte of their tensors.
namespace mpa {

/// Bytes of a kernel's tensors, each read or written once. Types of outputs are not recorded: they
/// are taken for that of the first input. 0: unknown.
struct TensorBytes {
  std::int64_t all = 0, written = 0;
};
TensorBytes BytesOf(const KernelTensors& tensors, const std::vector<std::string>& input_types);

/// Elements of a tensor; 0 where it has none, or more than 2^40.
std::int64_t ElementsOf(const Shape& shape);

/// Kernels of one type with the same shapes and data type.
struct RoofKernels {
  std::string op_type, input_shapes;
  TypeClass type = TypeClass::kUnknown;
  std::int64_t count = 0;
  TimeNs duration = 0;
  double flops = 0, bytes = 0;
  double peak_tflops = 0;  ///< with this type; 0: unknown
};

/// Kernels of one type that have no place in the picture.
struct RoofGap {
  std::string op_type, reason;
  std::int64_t count = 0;
  TimeNs duration = 0;
};

struct Roofline {
  std::string chip;
  TimeNs device_time = 0;  ///< of all kernels
  /// Those with most time first, at most 100 of each. What is beyond is neither here nor there.
  std::vector<RoofKernels> kernels{};
  std::vector<RoofGap> left_out{};
};

/// Of a rank: the operations and peaks are those of `mfu`.
Roofline RooflineOf(const RankTrace& trace, const RankMfu& mfu);

/// The same with FindKernelMfu() and the chip of the trace. Empty for GPUs, whose kernels have no
/// shapes, and without kernels.
std::optional<Roofline> RooflineOf(const RankTrace& trace);

/// Of several ranks, which must have one chip to have a roof; empty: nothing has a place in it.
std::optional<PageChart> RooflineChart(const std::vector<const Roofline*>& ranks);

}  // namespace mpa
