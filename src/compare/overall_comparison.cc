// SPDX-License-Identifier: Apache-2.0
// The overall comparison: where the end-to-end time of two captures went.
#include <fmt/format.h>

#include "compare_sheet.h"
#include "mpa/base/time.h"
#include "mpa/compare/comparison.h"
#include "mpa/measure/accounting.h"
#include "overall.h"
#include "serving.h"

namespace mpa::comparisons {
namespace {

void NoteLeftOut(const CompareInput& input, const OverallMetrics& base,
                 const OverallMetrics& comparison, Report& report) {
  constexpr TimeNs kShown = 500;  // less is 0.000 ms
  std::string times;
  for (const Side side : {Side::kBase, Side::kComparison}) {
    const OverallMetrics& metrics = side == Side::kBase ? base : comparison;
    const TimeNs left_out = metrics.left_out_before + metrics.left_out_behind;
    const bool is_told =  // compared with itself
        side == Side::kComparison && input.Path(side) == input.Path(Side::kBase);
    if (left_out < kShown || is_told) continue;
    times += fmt::format("{}{} ms of {}", times.empty() ? "" : ", ", Fixed(InMs(left_out), 3),
                         input.Path(side));
  }
  if (times.empty()) return;
  report.notes.push_back(
      fmt::format("OverallMetrics: E2E Time and Free Time lack {}, because the overlap analysis of "
                  "an older exporter does not begin and end with the work of the device",
                  times));
}

void CompareOverall(const CompareInput& input, Report& report) {
  const KernelMasks& masks = input.options().masks;
  for (const Side side : {Side::kBase, Side::kComparison}) {
    if (!input.Trace(side).HasTimeline()) return;  // named when it was read
  }
  const OverallMetrics base = ComputeOverall(input.Trace(Side::kBase), masks);
  const OverallMetrics comparison = ComputeOverall(input.Trace(Side::kComparison), masks);
  const CompareOptions& options = input.options();
  if (!options.compat && (base.e2e == 0 || comparison.e2e == 0)) {
    report.screens.push_back(OverallWithoutWork(input, base, comparison));
  } else {
    report.screens.push_back(options.wide_screen || options.compat
                                 ? OverallWideScreen(base, comparison, options.compat)
                                 : OverallScreen(input, base, comparison));
  }
  const ServingChanges serving(input);
  report.story = serving.Empty() ? DescribeChanges(input, base, comparison, report)
                                 : serving.Describe(base.e2e, comparison.e2e, report);
  bool complete = true;
  for (const Side side : {Side::kBase, Side::kComparison}) {
    const OverallMetrics& metrics = side == Side::kBase ? base : comparison;
    if (metrics.e2e == 0) {
      report.notes.push_back(fmt::format(
          "OverallMetrics: left out, because {} has no device activity", input.Path(side)));
      complete = false;
    } else if (!metrics.has_categories) {
      report.notes.push_back(fmt::format(
          "OverallMetrics: {} does not distinguish cube from vector kernels, its breakdown is "
          "N/A; collect with profiler_level Level1 or higher and keep "
          "kernel_details.csv beside the trace",
          input.Path(side)));
    }
    if (metrics.has_too_many_groups) {
      report.notes.push_back(fmt::format(
          "OverallMetrics: {} has {} communication groups, more than a rank can have; they are "
          "counted as one",
          input.Path(side), input.Trace(side).comm_groups.Size()));
    }
  }
  NoteLeftOut(input, base, comparison, report);
  if (complete) report.sheets.push_back(OverallSheet(input, base, comparison));
  if (!serving.Empty()) report.sheets.push_back(serving.MakeSheet());
}

void JudgeKernels(const Contents& recorded, Verdict& verdict) {
  const bool no_cores = recorded.kernel_cores == Recorded::kNo;
  verdict.AddLack(no_cores,
                  "kernels have no type and no core: the breakdown of computing time is N/A",
                  "profiler_level=Level1, and kernel_details.csv kept beside the trace");
  verdict.AddLack(!no_cores && recorded.kernel_types == Recorded::kNo,
                  "kernels have no operator type: those that no operator launched are "
                  "distinguished by core only",
                  "profiler_level=Level1");
  verdict.AddLack(
      recorded.counters == Recorded::kNo,
      "no hardware counters: kernels that compute and communicate at once are not split",
      "aic_metrics=PipeUtilization with profiler_level=Level1");
  verdict.AddLack(recorded.host_ops == Recorded::kNo,
                  "no host operators: kernels are attributed by their names only",
                  "activities with ProfilerActivity.CPU");
}

void JudgeCommunication(const RankFacts& facts, Verdict& verdict) {
  const Contents& recorded = facts.recorded;
  if (recorded.communication == Recorded::kNo) return;  // nothing to tell
  verdict.AddLack(recorded.communication_tasks == Recorded::kNo,
                  "no communication tasks: waiting inside communication is unknown",
                  "profiler_level=Level1");
  const bool database = facts.kind == CaptureKind::kNpuDb;
  verdict.AddLack(
      recorded.bandwidths == Recorded::kNo,
      database ? "bandwidths are unknown: they are read from the communication.json of text "
                 "captures"
               : "no communication.json: bandwidths are unknown",
      database ? "export_type=Text with profiler_level=Level1" : "profiler_level=Level1");
}

Verdict JudgeOverall(const RankFacts& facts) {
  const bool idle = facts.recorded.device_tasks == Recorded::kNo;
  Verdict verdict = JudgeReadable(facts)
                        .Refuse(idle && facts.complete == Recorded::kNo,
                                "the data breaks off before any device activity", kCopyAgain)
                        .Refuse(idle, "no device activity was recorded", DeviceSetting(facts))
                        .AddUnknown(facts.recorded.device_tasks, "device activity");
  if (facts.kind != CaptureKind::kGpu) {
    verdict.AddLack(facts.kind == CaptureKind::kNpuText && facts.single_file,
                    "only the trace was given: the breakdown, bandwidths and memory use are in the "
                    "files beside it",
                    "give the directory of the capture");
    verdict.AddLack(facts.kind == CaptureKind::kNpuKineto,
                    "traces of torch.profiler have no copies of NPUs", kCollectByTorchNpu);
    JudgeKernels(facts.recorded, verdict);
    JudgeCommunication(facts, verdict);
  }
  verdict.AddLack(facts.recorded.memory == Recorded::kNo, "no memory record: memory use is unknown",
                  "profile_memory=True");
  verdict.AddLack(facts.complete == Recorded::kNo,
                  "the data breaks off: the end of the run is missing", kCopyAgain);
  return verdict;
}

}  // namespace

Comparison Overall() {
  return {"profiling",
          "overall",
          "End-to-end time: computing, communication, free time",
          Tables::kHostOps | Tables::kLaunches | Tables::kKernels | Tables::kKernelCounters |
              Tables::kDeviceTasks | Tables::kCommunications | Tables::kCommTasks |
              Tables::kOverlaps | Tables::kMemorySamples | Tables::kTransfers | Tables::kJobInfo |
              Tables::kOpStacks | Tables::kSteps | Tables::kHostCalls | kAccountTables,
          CompareOverall,
          JudgeOverall};
}

}  // namespace mpa::comparisons
