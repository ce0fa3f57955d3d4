// SPDX-License-Identifier: Apache-2.0
// The overall comparison: where the end-to-end time of two captures went.
#include <fmt/format.h>

#include "compare_sheet.h"
#include "mpa/compare/comparison.h"
#include "overall_report.h"
#include "story.h"

namespace mpa::comparisons {
namespace {

void CompareOverall(const CompareInput& input, Report& report) {
  const KernelMasks& masks = input.options().masks;
  const OverallMetrics base = ComputeOverall(input.Trace(Side::kBase), masks);
  const OverallMetrics comparison = ComputeOverall(input.Trace(Side::kComparison), masks);
  report.screens.push_back(OverallScreen(base, comparison, input.options().compat));
  report.story = Story(input, base, comparison);
  bool complete = true;
  for (const Side side : {Side::kBase, Side::kComparison}) {
    const OverallMetrics& metrics = side == Side::kBase ? base : comparison;
    if (metrics.e2e == 0) {
      report.notes.push_back(fmt::format(
          "OverallMetrics: left out, because {} has no device activity", input.Path(side)));
      complete = false;
    } else if (!metrics.has_categories) {
      report.notes.push_back(
          fmt::format("OverallMetrics: {} does not tell cube from vector kernels, its breakdown is "
                      "N/A; collect with profiler_level Level1 or higher and keep "
                      "kernel_details.csv beside the trace",
                      input.Path(side)));
    }
    if (metrics.left_out_before + metrics.left_out_behind > 0) {
      report.notes.push_back(fmt::format(
          "OverallMetrics: the trace of {} comes from an older exporter, whose overlap analysis "
          "begins {} ms after the first device task and ends {} ms before the end of the last one; "
          "E2E Time and Free Time do not include them",
          input.Path(side), Fixed(Ms(metrics.left_out_before), 3),
          Fixed(Ms(metrics.left_out_behind), 3)));
    }
    if (metrics.has_too_many_groups) {
      report.notes.push_back(fmt::format(
          "OverallMetrics: {} has {} communication groups, which no rank has; they are not told "
          "apart",
          input.Path(side), input.Trace(side).comm_groups.Size()));
    }
  }
  if (complete) report.sheets.push_back(OverallSheet(input, base, comparison));
}

}  // namespace

Comparison Overall() {
  return {"profiling", "Where the end-to-end time went: computing, communication, free time",
          Tables::kHostOps | Tables::kLaunches | Tables::kKernels | Tables::kKernelCounters |
              Tables::kDeviceTasks | Tables::kCommunications | Tables::kCommTasks |
              Tables::kOverlaps | Tables::kMemorySamples | Tables::kTransfers,
          CompareOverall};
}

}  // namespace mpa::comparisons
