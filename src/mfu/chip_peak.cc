// SPDX-License-Identifier: Apache-2.0
// How fast a kernel was compared with what its chip can do.
#include "mpa/mfu/chip_peak.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "mpa/base/enum_name.h"
#include "mpa/base/text.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/mfu/chip_of_rank.h"
#include "mpa/recipe/arguments.h"

namespace mpa {
namespace {

// A multiply-add is two operations.
constexpr double kFp16PerCycle = 2.0 * 16 * 16 * 16;
// Operations of other types in the time of one of FP16.
constexpr double kInt8PerFp16 = 2;
constexpr double kFp8PerFp16 = 2;
constexpr double kHf32PerFp16 = 0.5;
constexpr double kFp32PerFp16 = 0.25;

bool IsUsable(double number) { return std::isfinite(number) && number > 0; }

// Empty for types that the chip has no known peak for.
std::optional<double> RateOf(TypeClass type, bool multiplies_fp32) {
  switch (type) {
    case TypeClass::kInt8:
      return kInt8PerFp16;
    case TypeClass::kFp8:
      return kFp8PerFp16;
    case TypeClass::kFp16:
      return 1;
    case TypeClass::kHf32:
      return multiplies_fp32 ? std::optional(kHf32PerFp16) : std::nullopt;
    case TypeClass::kFp32:
      return multiplies_fp32 ? std::optional(kFp32PerFp16) : std::nullopt;
    case TypeClass::kUnknown:
    case TypeClass::kInt4:
      break;
  }
  return std::nullopt;
}

// The inputs that a kernel multiplies with each other.
std::vector<std::size_t> Operands(std::string_view op_type, std::size_t inputs) {
  const FlopsFamily family = FlopsFamilyOf(op_type);
  if (family == FlopsFamily::kNone) return {0};
  if (ClassOfType(op_type) == KernelClass::kAttention) return {0, 1, 2};
  switch (family) {
    case FlopsFamily::kConvolutionInput:  // the size of the gradient, filter, output gradient
      return inputs > 2 ? std::vector<std::size_t>{1, 2} : std::vector<std::size_t>{0, 1};
    case FlopsFamily::kConvolutionFilter:  // input, the size of the gradient, output gradient
      return inputs > 2 ? std::vector<std::size_t>{0, 2} : std::vector<std::size_t>{0, 1};
    default:
      return {0, 1};
  }
}

}  // namespace

TypeClass TypeClassOf(std::string_view type, bool hf32) {
  if (IsOneOf(type, {"FLOAT16", "FP16", "HALF", "BF16", "BFLOAT16"})) return TypeClass::kFp16;
  if (IsOneOf(type, {"FLOAT", "FLOAT32", "FP32"})) {
    return hf32 ? TypeClass::kHf32 : TypeClass::kFp32;
  }
  if (type == "INT8") return TypeClass::kInt8;
  if (type == "INT4") return TypeClass::kInt4;
  return TypeClass::kUnknown;
}

std::string_view Text(TypeClass type) {
  return EnumName<TypeClass::kFp32>(type, {"", "INT4", "INT8", "FP8", "FP16", "HF32", "FP32"});
}

TypeClass ComputeType(std::string_view op_type, const std::vector<std::string>& input_types,
                      Hf32 hf32) {
  const bool as_hf32 = hf32 == Hf32::kNotTold ? ClassOfType(op_type) == KernelClass::kConvolution
                                              : hf32 == Hf32::kYes;
  TypeClass widest = TypeClass::kUnknown;
  for (const std::size_t i : Operands(op_type, input_types.size())) {
    const TypeClass type =
        i < input_types.size() ? TypeClassOf(input_types[i], as_hf32) : TypeClass::kUnknown;
    if (type == TypeClass::kUnknown) return TypeClass::kUnknown;
    widest = std::max(widest, type);
  }
  return widest;
}

ChipLimits LimitsOf(std::string_view chip) {
  // One entry serves the variants of 910B and the dies of 910C: captures give all of them the name
  // Ascend910B (platform_version 5 of info.json), so nothing tells them apart.
  // card_gbs: what the Python tool expects of SDMA (its advisor, bandwidth contention); links of a
  // healthy mesh were measured at 17.4.
  // memory_gbs: a die of 910C has 1.6 TB/s, as published reports give 3.2 TB/s for its two dies.
  // port_gbs: a working value without a source of the vendor, RoCE of 100 Gbit/s; faster ports are
  // judged too mildly, never too severely.
  // cache_bytes: a working value, from which on tensors were seen to stream. The cache is larger:
  // l2_size of platform_config/Ascend910B2.ini (CANN) is 192 MiB. What a cached tensor reaches
  // beyond memory_gbs does not count.
  // memory_bytes: that of the smallest variant, the cards of 32 GB of Atlas 800I A2.
  constexpr double kMebibyte = 1 << 20;
  if (chip.starts_with("Ascend910B"))
    return {.card_gbs = 18,
            .port_gbs = 12.5,
            .memory_gbs = 1600,
            .cache_bytes = 32 * kMebibyte,
            .memory_bytes = 32 * 1024 * kMebibyte};
  return {};
}

std::string_view Text(PeakGap gap) {
  return EnumName<PeakGap::kNoChip>(gap, {"", "number of operations unknown", "no duration",
                                          "data type unknown, or without a known peak",
                                          "number or frequency of the cores unknown"});
}

PeakTflops PeakOf(const ChipPeak& chip, TypeClass type) {
  const std::optional<double> rate = RateOf(type, chip.multiplies_fp32);
  if (!rate) return {.gap = PeakGap::kUnknownType};
  double fp16 = 0;
  if (chip.peak_tflops) {
    fp16 = *chip.peak_tflops;
  } else if (chip.cores > 0) {
    fp16 = static_cast<double>(chip.cores) * chip.frequency_mhz * kFp16PerCycle / 1e6;
  }
  if (!IsUsable(fp16)) return {.gap = PeakGap::kNoChip};
  return {.tflops = fp16 * *rate};
}

std::optional<double> Tflops(std::int64_t flops, TimeNs duration) {
  if (duration <= 0) return std::nullopt;
  return static_cast<double>(flops) / static_cast<double>(duration) / 1e3;
}

Utilisation UtilisationOf(const Flops& flops, TimeNs duration, const ChipPeak& chip,
                          TypeClass type) {
  if (!flops.Known()) return {.gap = PeakGap::kNoFlops};
  const std::optional<double> tflops = Tflops(flops.count, duration);
  if (!tflops) return {.gap = PeakGap::kNoDuration};
  const PeakTflops peak = PeakOf(chip, type);
  if (peak.gap != PeakGap::kNone) return {.gap = peak.gap};
  return {.ratio = *tflops / peak.tflops};
}

namespace {

bool Alike(const Chips& chips, std::size_t a, std::size_t b) {
  return chips.cube_cores[a] == chips.cube_cores[b] &&
         chips.vector_cores[a] == chips.vector_cores[b] && chips.cube_mhz[a] == chips.cube_mhz[b];
}

}  // namespace

std::optional<std::size_t> ChipRowOf(const RankTrace& trace) {
  const Chips& chips = trace.chips;
  for (std::size_t i = 0; i < chips.Size(); ++i) {
    if (chips.device[i] == trace.device_id) return i;
  }
  for (std::size_t i = 0; i < chips.Size(); ++i) {
    if (!Alike(chips, 0, i)) return std::nullopt;
  }
  return chips.Empty() ? std::nullopt : std::optional<std::size_t>(0);
}

ChipPeak ChipOf(const RankTrace& trace, const RecipeArguments& arguments) {
  ChipPeak peak;
  if (const auto chip = ChipRowOf(trace)) {
    peak.cores = trace.chips.cube_cores[*chip];
    peak.frequency_mhz = trace.chips.cube_mhz[*chip];
    // Since Atlas A2 a core has one cube and two vector units, apart from each other.
    peak.multiplies_fp32 = trace.chips.vector_cores[*chip] >= 2 * peak.cores;
  }
  peak.cores = arguments[kAiCores].value_or(peak.cores);
  peak.frequency_mhz = arguments[kAicFrequency].value_or(peak.frequency_mhz);
  peak.peak_tflops = arguments[kPeakTflops];
  return peak;
}

std::optional<ClockUse> ClockDuring(const CoreClocks& clocks, TimeNs start, TimeNs end) {
  auto next = std::upper_bound(clocks.start.begin(), clocks.start.end(), start);
  if (next == clocks.start.begin()) return std::nullopt;
  const auto mhz = [&](auto at) {
    return clocks.mhz[static_cast<std::size_t>(at - clocks.start.begin())];
  };
  const std::int64_t first = mhz(std::prev(next));
  ClockUse use{static_cast<double>(first), first, first};
  if (end <= start) return use;
  double sum = 0;
  TimeNs from = start;
  for (; from < end; ++next) {
    const TimeNs until = next == clocks.start.end() ? end : std::min(*next, end);
    const std::int64_t clock = mhz(std::prev(next));
    sum += static_cast<double>(until - from) * static_cast<double>(clock);
    use.least = std::min(use.least, clock);
    use.most = std::max(use.most, clock);
    from = until;
  }
  use.mean = sum / static_cast<double>(end - start);
  return use;
}

std::optional<double> MeanMhz(const CoreClocks& clocks, TimeNs start, TimeNs end) {
  const auto use = ClockDuring(clocks, start, end);
  return use ? std::optional(use->mean) : std::nullopt;
}

}  // namespace mpa
