// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/memory_growth.h"

#include <algorithm>

#include "mpa/measure/memory_totals.h"
#include "mpa/model/step_bounds.h"

namespace mpa {

std::optional<std::int64_t> UsualGrowth(const std::vector<std::int64_t>& levels) {
  if (levels.size() < 3) return std::nullopt;
  std::vector<std::int64_t> grown;
  for (std::size_t i = 1; i < levels.size(); ++i) grown.push_back(levels[i] - levels[i - 1]);
  std::ranges::sort(grown);
  return grown[(grown.size() - 1) / 2];
}

std::int64_t SteadyGrowth(const std::vector<std::int64_t>& levels, double least, double steady) {
  const std::int64_t usual = UsualGrowth(levels).value_or(0);
  if (static_cast<double>(usual) < least) return 0;
  const double of_step = steady * static_cast<double>(usual);
  for (std::size_t i = 1; i < levels.size(); ++i) {
    if (static_cast<double>(levels[i] - levels[i - 1]) < of_step) return 0;
  }
  return usual;
}

std::optional<std::int64_t> AllocatedGrowth(const RankTrace& trace) {
  const HostSteps steps(trace.steps);
  if (steps.Count() < 3) return std::nullopt;
  const MemoryTotals memory(trace);
  const std::vector<MemoryTotals::Total>& totals = memory.All();
  std::vector<std::int64_t> levels;
  for (std::size_t step = 0; step < steps.Count(); ++step) {
    const auto behind =
        std::ranges::upper_bound(totals, steps.HostEnd(step), {}, &MemoryTotals::Total::time);
    if (behind == totals.begin() || (behind - 1)->allocated < 0) return std::nullopt;
    levels.push_back((behind - 1)->allocated);
  }
  return UsualGrowth(levels);
}

}  // namespace mpa
