// SPDX-License-Identifier: Apache-2.0
#include "mpa/mfu/chip_of_rank.h"

#include <algorithm>

#include "mpa/recipe/arguments.h"

namespace mpa {
namespace {

bool Alike(const Chips& chips, std::size_t a, std::size_t b) {
  return chips.cube_cores[a] == chips.cube_cores[b] &&
         chips.vector_cores[a] == chips.vector_cores[b] && chips.cube_mhz[a] == chips.cube_mhz[b];
}

std::optional<std::size_t> FindChip(const RankTrace& trace) {
  const Chips& chips = trace.chips;
  for (std::size_t i = 0; i < chips.Size(); ++i) {
    if (chips.device[i] == trace.device_id) return i;
  }
  for (std::size_t i = 0; i < chips.Size(); ++i) {
    if (!Alike(chips, 0, i)) return std::nullopt;
  }
  return chips.Empty() ? std::nullopt : std::optional<std::size_t>(0);
}

}  // namespace

std::vector<RecipeParameter> ChipParameters() {
  return {{"ai_core_num", "N", "Number of cube cores, instead of the one in info.json",
           RecipeParameter::Value::kCount},
          {"aic_frequency", "MHZ", "Clock of the cube cores, instead of the one in info.json",
           RecipeParameter::Value::kPositive},
          {"peak_tflops", "X",
           "FP16 peak of the chip, instead of cores x clock x 8192; the peak of INT8 is twice, of "
           "HF32 half and of FP32 a quarter of it",
           RecipeParameter::Value::kPositive}};
}

ChipPeak ChipOf(const RankTrace& trace, const RecipeArguments& arguments) {
  ChipPeak peak;
  if (const auto chip = FindChip(trace)) {
    peak.cores = trace.chips.cube_cores[*chip];
    peak.frequency_mhz = trace.chips.cube_mhz[*chip];
    // Since Atlas A2 a core has one cube and two vector units, apart from each other.
    peak.multiplies_fp32 = trace.chips.vector_cores[*chip] >= 2 * peak.cores;
  }
  peak.cores = NumberArgument<std::int64_t>(arguments, "ai_core_num").value_or(peak.cores);
  peak.frequency_mhz =
      NumberArgument<double>(arguments, "aic_frequency").value_or(peak.frequency_mhz);
  peak.peak_tflops = NumberArgument<double>(arguments, "peak_tflops");
  return peak;
}

std::optional<double> MeanMhz(const CoreClocks& clocks, TimeNs start, TimeNs end) {
  auto next = std::upper_bound(clocks.start.begin(), clocks.start.end(), start);
  if (next == clocks.start.begin()) return std::nullopt;
  const auto mhz = [&](auto at) {
    return static_cast<double>(clocks.mhz[static_cast<std::size_t>(at - clocks.start.begin())]);
  };
  if (end <= start) return mhz(std::prev(next));
  double sum = 0;
  TimeNs from = start;
  for (; from < end; ++next) {
    const TimeNs until = next == clocks.start.end() ? end : std::min(*next, end);
    sum += static_cast<double>(until - from) * mhz(std::prev(next));
    from = until;
  }
  return sum / static_cast<double>(end - start);
}

}  // namespace mpa
