// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "mpa/mfu/chip_peak.h"
#include "mpa/recipe/arguments.h"

namespace mpa {

/// The options of a recipe about the chip.
inline constexpr Option<std::optional<std::int64_t>> kAiCores{
    "ai_core_num", "N", "Number of cube cores, instead of the one in info.json"};
inline constexpr Option<std::optional<double>> kAicFrequency{
    "aic_frequency", "MHZ", "Clock of the cube cores, instead of the one in info.json"},
    kPeakTflops{"peak_tflops", "X",
                "FP16 peak of the chip, instead of cores x clock x 8192; the peak of INT8 is"
                " twice, of HF32 half and of FP32 a quarter of it"};

/// How fast the rank's chip can be: as the options say, otherwise as its info.json does. The chip
/// is the one whose number is the device's; if that is not known all must be alike.
ChipPeak ChipOf(const RankTrace& trace, const RecipeArguments& arguments);

/// The row of `chips` that is the rank's: the one whose number is the device's, any if all are
/// alike.
std::optional<std::size_t> ChipRowOf(const RankTrace& trace);

/// The mean clock from `start` to `end` (behind it), weighted by time. Empty where it was not
/// measured from the start on. `clocks` is in order.
std::optional<double> MeanMhz(const CoreClocks& clocks, TimeNs start, TimeNs end);

/// The same with the extremes.
struct ClockUse {
  double mean = 0;
  std::int64_t least = 0, most = 0;
};
std::optional<ClockUse> ClockDuring(const CoreClocks& clocks, TimeNs start, TimeNs end);

}  // namespace mpa
