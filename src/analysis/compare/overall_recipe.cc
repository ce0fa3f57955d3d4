// SPDX-License-Identifier: Apache-2.0
// The overall comparison: where the end-to-end time of two captures went.
#include <fmt/format.h>

#include "mpa/analysis/recipe.h"
#include "overall_report.h"

namespace mpa::recipes {
namespace {

void Reduce(const std::vector<PartOf<OverallMetrics>>& parts, Report& report) {
  const PartOf<OverallMetrics>& base = parts[parts[0].origin.side == Side::kBase ? 0 : 1];
  const PartOf<OverallMetrics>& comparison = parts[parts[0].origin.side == Side::kBase ? 1 : 0];
  report.screens.push_back(OverallScreen(base.part, comparison.part));
  bool complete = true;
  for (const auto* side : {&base, &comparison}) {
    if (side->part.e2e == 0) {
      report.notes.push_back(fmt::format(
          "OverallMetrics: left out, because {} has no device activity", side->origin.path));
      complete = false;
    } else if (!side->part.has_categories) {
      report.notes.push_back(fmt::format(
          "OverallMetrics: {} does not tell cube from vector kernels, its breakdown is N/A; "
          "collect "
          "with profiler_level Level1 or higher and keep kernel_details.csv beside the trace",
          side->origin.path));
    }
  }
  if (complete) report.sheets.push_back(OverallSheet(base, comparison));
}

}  // namespace

Recipe Overall() {
  return MakeRecipe<OverallMetrics>(
      "profiling", "Where the end-to-end time went: computing, communication, free time",
      Tables::kHostOps | Tables::kLaunches | Tables::kKernels | Tables::kDeviceTasks |
          Tables::kCommunications | Tables::kCommTasks | Tables::kOverlaps |
          Tables::kMemorySamples | Tables::kTransfers,
      ComputeOverall, Reduce);
}

}  // namespace mpa::recipes
