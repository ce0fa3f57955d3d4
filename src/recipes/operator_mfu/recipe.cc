// SPDX-License-Identifier: Apache-2.0
// How much of the chip the kernels, modules and kinds of work of every rank used.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mfu_screen.h"
#include "mfu_sheets.h"
#include "mpa/mfu/chip_of_rank.h"
#include "mpa/mfu/module_mfu.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "part.h"

namespace mpa::recipes {
namespace {

using operator_mfu::Part;

Part MapOperatorMfu(const RankTrace& trace, const RecipeArguments& arguments) {
  const ThreadGroups groups(trace);
  const AllOpWork work = FindOpWork(trace);
  const ChipPeak chip = ChipOf(trace, arguments);
  const bool compat = arguments.contains(kCompat);
  const RankMfu mfu = FindKernelMfu(trace, groups, work, chip,
                                    compat ? MfuRule::kRangesOnly : MfuRule::kRangesAndShapes);
  ModuleStatisticOptions options;
  options.backward = arguments.contains("with_backward");
  Part part{.kernels = OperatorMfuRows(trace, mfu),
            .modules = SumModules(trace, groups, work, options).rows,
            .summary = SummariseMfu(trace, mfu, chip)};
  if (compat) {
    std::erase_if(part.kernels, [](const OperatorMfuRow& row) { return !row.mfu.use.Known(); });
  }
  for (ModuleStatisticRow& row : part.modules) {
    row.mfu = AverageMfu(row, mfu, compat ? "" : "-");
    row.work = {};
  }
  return part;
}

void AddNotes(const std::vector<OfRank<Part>>& parts, Report& report) {
  std::vector<std::string> without_peak, without_work;
  for (const OfRank<Part>& rank : parts) {
    const MfuSummary& summary = rank.part.summary;
    const std::string name = RankText(rank.rank);
    if (rank.part.kernels.empty()) {
      without_work.push_back(name);
    } else if (PeakOf(summary.chip, TypeClass::kFp16).gap != PeakGap::kNone) {
      without_peak.push_back(name);
    }
  }
  if (!without_peak.empty()) {
    report.notes.push_back(
        fmt::format("{}: no MFU, the peak of the chip is unknown: no info.json of "
                    "the device in "
                    "PROF_*; give --ai_core_num and --aic_frequency, or --peak_tflops",
                    fmt::join(without_peak, ", ")));
  }
  for (const OfRank<Part>& rank : parts) {
    const std::vector<OperatorMfuRow>& rows = rank.part.kernels;
    const auto beyond = std::count_if(
        rows.begin(), rows.end(), [](const OperatorMfuRow& row) { return row.mfu.use.ratio > 1; });
    if (beyond == 0) continue;
    report.notes.push_back(
        fmt::format("{}: MFU above 100 % of {} of {} kernels; the operations that were "
                    "recorded for them or the numbers of the chip are wrong",
                    RankText(rank.rank), beyond, rows.size()));
  }
  if (!without_work.empty()) {
    report.notes.push_back(fmt::format(
        "{}: no kernel of known operations; collect with profiler_level Level1 or higher, "
        "which records shapes",
        fmt::join(without_work, ", ")));
  }
}

void ReduceOperatorMfu(const std::vector<OfRank<Part>>& parts, const RecipeArguments& arguments,
                       Wanted wanted, Report& report) {
  if (wanted.sheets) operator_mfu::AddSheets(parts, arguments.contains(kCompat), report);
  if (wanted.screen) {
    for (const OfRank<Part>& rank : parts) {
      for (std::string& line : MfuScreen(RankText(rank.rank), rank.part.summary)) {
        report.lines.push_back(std::move(line));
      }
    }
  }
  AddNotes(parts, report);
}

Verdict JudgeOperatorMfu(const RankFacts& facts) {
  Verdict verdict = JudgeNpuKernels(facts, "kernels of GPUs have no shapes", "types and shapes");
  if (verdict.CannotRun()) return verdict;
  if (facts.recorded.kernel_types == Recorded::kNo) {
    return CannotRun("kernels have no types and shapes", "profiler_level=Level1");
  }
  verdict.AddLack(
      facts.recorded.chip == Recorded::kNo,
      "no info.json of the device in PROF_*: operations and TFLOPS, but no share of the peak",
      "--ai_core_num and --aic_frequency, or --peak_tflops");
  verdict.AddLack(facts.recorded.host_ops == Recorded::kNo,
                  "no host operators: the operators and modules of kernels are unknown",
                  "activities with ProfilerActivity.CPU");
  return verdict;
}

}  // namespace

Recipe OperatorMfu() {
  std::vector<RecipeParameter> parameters = ChipParameters();
  parameters.push_back({"with_backward", "",
                        "Also list the modules of the backward pass, as module_statistic does"});
  parameters.push_back({kCompat, "",
                        "Use the rows, columns and rules of the Python tool: only kernels in "
                        "mfu_flops ranges, each with all operations of its range, unknown types "
                        "as FP16"});
  return MakeRecipe<MapOperatorMfu, ReduceOperatorMfu>(
      {.name = "operator_mfu",
       .folder = "OperatorMfu",
       .summary = "Share of the chip's peak that kernels and modules reach (MFU), and where time "
                  "is wasted",
       .needs = kModuleTables | kMfuTables,
       .parameters = std::move(parameters),
       .can_run = JudgeOperatorMfu});
}

}  // namespace mpa::recipes
