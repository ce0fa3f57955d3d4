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
  if (const auto chip = ChipRowOf(trace)) {
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
