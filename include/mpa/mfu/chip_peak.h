// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/mfu/flops.h"

namespace mpa {

/// Data types that the matrix unit handles at one speed.
enum class TypeClass : std::uint8_t {
  kUnknown,
  kInt4,
  kInt8,
  kFp8,
  kFp16,  ///< BF16, too
  kHf32,  ///< FP32 values multiplied with 11 bits of mantissa
  kFp32,
};

constexpr TypeClass LastOf(TypeClass) { return TypeClass::kFp32; }

/// Of a type as ParseTensorNames() gives it: "FLOAT16", "BF16", "INT8", "FLOAT". `hf32` says that
/// the kernel may take FP32 for HF32.
TypeClass TypeClassOf(std::string_view type, bool hf32 = false);

/// "FP16"; empty when unknown.
std::string_view Text(TypeClass type);

/// Whether a kernel takes FP32 for HF32.
enum class Hf32 : std::uint8_t { kNotTold, kNo, kYes };

/// The type in which a kernel multiplies: of its operands the widest one, as quantised weights are
/// unpacked to the type of what they are multiplied with. Unknown when that of an operand is. Where
/// the capture does not tell, FP32 is HF32 in convolutions and not elsewhere, the default of CANN
/// (documentation of the option allow_hf32).
TypeClass ComputeType(std::string_view op_type, const std::vector<std::string>& input_types,
                      Hf32 hf32 = Hf32::kNotTold);

/// What determines how fast a chip can be at best.
struct ChipPeak {
  std::int64_t cores = 0;             ///< cube cores, `ai_core_num` of info.json
  double frequency_mhz = 0;           ///< nominal, `aic_frequency` of info.json
  std::optional<double> peak_tflops;  ///< of FP16, in place of cores and frequency
  bool multiplies_fp32 = true;        ///< false for chips before Atlas A2, whose cube cannot
};

/// What a chip and its links move at most, in GB/s, and the sizes of its cache and of its memory;
/// 0: not known.
struct ChipLimits {
  double card_gbs = 0;    ///< a link between two cards of a host
  double port_gbs = 0;    ///< the port to other hosts
  double memory_gbs = 0;  ///< the memory of the device
  double cache_bytes = 0;
  double memory_bytes = 0;  ///< at least

  friend bool operator==(const ChipLimits&, const ChipLimits&) = default;
};

/// By the chip's name, "Ascend910B"; nothing is known of chips without an entry.
ChipLimits LimitsOf(std::string_view chip);

/// Why there is no utilisation.
enum class PeakGap : std::uint8_t {
  kNone,
  kNoFlops,      ///< see the FlopsGap
  kNoDuration,   ///< the kernel took no time
  kUnknownType,  ///< no peak is known for data of this type
  kNoChip,       ///< cores or frequency not recorded
};
/// For people: "no duration".
std::string_view Text(PeakGap gap);

struct PeakTflops {
  double tflops = 0;
  PeakGap gap = PeakGap::kNone;
};

/// cores x frequency x operations per cycle. A cube core multiplies 16 x 16 x 16 values of FP16 in
/// a cycle and 16 x 32 x 16 of INT8: section [DtypeMKN] of the chip descriptions
/// (platform_config/Ascend910B*.ini) of CANN. These say nothing of FP32 and HF32. Measured on Atlas
/// A2, the matrix unit completes up to 2012 operations of FP32 and 3886 of HF32 in a cycle in which
/// it is busy (operations / (aic_total_cycles x aic_mac_ratio) of kernel_details.csv, MatMulV3 and
/// Conv2D), so their rates are taken for a quarter and half of FP16, 2048 and 4096. A rate of INT4
/// is not known. GPUs that multiply FP8 do so at twice the rate of FP16 (H100, MI300X, B200).
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
