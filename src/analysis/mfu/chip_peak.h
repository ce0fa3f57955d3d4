// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flops.h"
#include "mpa/base/time.h"

namespace mpa {

/// Data types that the matrix unit handles at one speed.
enum class TypeClass : std::uint8_t {
  kUnknown,
  kInt4,
  kInt8,
  kFp16,  ///< BF16, too
  kHf32,  ///< FP32 values multiplied with 11 bits of mantissa
  kFp32,
};

/// Of a type as ParseTensorNames() gives it: "FLOAT16", "BF16", "INT8", "FLOAT". `hf32` says that
/// the kernel may take FP32 for HF32.
TypeClass TypeClassOf(std::string_view type, bool hf32 = false);

/// The type in which a kernel multiplies: of its operands the widest one, as quantised weights are
/// unpacked to the type of what they are multiplied with. Unknown when that of an operand is.
TypeClass ComputeType(std::string_view op_type, const std::vector<std::string>& input_types,
                      bool hf32 = false);

/// What tells how fast a chip can be at best.
struct ChipPeak {
  std::int64_t cores = 0;             ///< cube cores, `ai_core_num` of info.json
  double frequency_mhz = 0;           ///< nominal, `aic_frequency` of info.json
  std::optional<double> peak_tflops;  ///< of FP16, in place of cores and frequency
  std::optional<double> hf32_peak_tflops, fp32_peak_tflops;  ///< known from the user only
};

/// Why there is no utilisation.
enum class PeakGap : std::uint8_t {
  kNone,
  kNoFlops,      ///< see the FlopsGap
  kNoDuration,   ///< the kernel took no time
  kUnknownType,  ///< no peak is known for data of this type
  kNoChip,       ///< cores or frequency not recorded
};
/// For people: "no peak known for this data type".
std::string_view Text(PeakGap gap);

struct PeakTflops {
  double tflops = 0;
  PeakGap gap = PeakGap::kNone;
};

/// cores x frequency x operations per cycle. A cube core multiplies 16 x 16 x 16 values of FP16 in
/// a cycle and 16 x 32 x 16 of INT8: section [DtypeMKN] of the chip descriptions
/// (platform_config/Ascend910B*.ini) of CANN. These say nothing of FP32 and HF32, and chips before
/// Atlas A2 have neither in the cube; nor is a rate of INT4 published for all chips. Their peak is
/// only what the user gives.
PeakTflops PeakOf(const ChipPeak& chip, TypeClass type);

/// Trillions of operations per second; empty for kernels that took no time.
std::optional<double> Tflops(std::int64_t flops, TimeNs duration);

struct Utilisation {
  double ratio = 0;  ///< not capped: above 1 says that a number it is made of is wrong
  PeakGap gap = PeakGap::kNone;

  bool Known() const { return gap == PeakGap::kNone; }
};

Utilisation UtilisationOf(const Flops& flops, TimeNs duration, const ChipPeak& chip,
                          TypeClass type);

}  // namespace mpa
