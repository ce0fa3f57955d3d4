// SPDX-License-Identifier: Apache-2.0
// How much of the chip the kernels, modules and kinds of work of every rank used.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "mpa/mfu/chip_of_rank.h"
#include "mpa/mfu/module_mfu.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "part.h"

namespace mpa::recipes {
namespace {

using operator_mfu::Part;

// Current versions record them at Level0, too.
bool HasShapes(const RankTrace& trace) {
  const std::vector<StringId>& shapes = trace.kernels.shapes;
  return std::ranges::any_of(shapes, [&](StringId text) {
    return text != StringId::kEmpty && trace.strings.View(text) != "N/A";
  });
}

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
            .summary = SummariseMfu(trace, mfu, chip),
            .roofline = RooflineOf(trace, mfu),
            .has_shapes = HasShapes(trace),
            .on_gpu = trace.device == DeviceKind::kGpu};
  if (compat) {
    std::erase_if(part.kernels, [](const OperatorMfuRow& row) { return !row.mfu.use.Known(); });
  }
  for (ModuleStatisticRow& row : part.modules) {
    row.mfu = AverageMfu(row, mfu, compat ? "" : "-");
    row.work = {};
  }
  return part;
}

void AddNotes(const OfRank<Part>& rank, Report& report) {
  const std::string name = RankText(rank.rank);
  const std::vector<OperatorMfuRow>& rows = rank.part.kernels;
  if (rows.empty()) {
    report.notes.push_back(
        rank.part.has_shapes
            ? fmt::format("{}: no kernel of known operations; its kernels have shapes", name)
            : fmt::format(
                  "{}: no kernel of known operations; collect with {}, which records shapes", name,
                  rank.part.on_gpu ? "record_shapes=True" : "profiler_level Level1 or higher"));
    return;
  }
  if (PeakOf(rank.part.summary.chip, TypeClass::kFp16).gap != PeakGap::kNone) {
    report.notes.push_back(
        fmt::format("{}: no MFU, because the peak of the chip is not known: give --peak_tflops{}",
                    name, rank.part.on_gpu ? "" : ", or keep PROF_*/device_*/info.json"));
  }
  const auto beyond =
      std::ranges::count_if(rows, [](const OperatorMfuRow& row) { return row.mfu.use.ratio > 1; });
  if (beyond == 0) return;
  report.notes.push_back(
      fmt::format("{}: MFU above 100 % of {} of {} kernels; the operations that were recorded for "
                  "them or the numbers of the chip are wrong",
                  name, beyond, rows.size()));
}

void AddLines(std::vector<std::string> lines, Report& report) {
  std::move(lines.begin(), lines.end(), std::back_inserter(report.lines));
}

void AddDrawings(const std::vector<OfRank<Part>>& parts, Report& report) {
  std::vector<const Roofline*> ranks;
  for (const OfRank<Part>& rank : parts) ranks.push_back(&rank.part.roofline);
  if (auto chart = RooflineChart(ranks)) report.drawings.push_back(std::move(*chart));
}

void ReduceOperatorMfu(const std::vector<OfRank<Part>>& parts, const RecipeArguments& arguments,
                       OutputSelection wanted, Report& report) {
  if (wanted.sheets) {
    operator_mfu::AddSheets(parts, arguments.contains(kCompat), report);
    if (!arguments.contains(kCompat)) AddDrawings(parts, report);
  }
  for (const OfRank<Part>& rank : parts) AddNotes(rank, report);
  if (wanted.screen == Detail::kNone) return;
  std::vector<OfRank<MfuSummary>> summaries;
  for (const OfRank<Part>& rank : parts) summaries.push_back({rank.rank, rank.part.summary});
  if (parts.size() > 1) AddLines(MfuSpreadScreen(summaries), report);
  if (parts.size() > 1 && wanted.screen != Detail::kAll) return;
  for (const OfRank<MfuSummary>& rank : summaries) {
    AddLines(MfuScreen(RankText(rank.rank), rank.part), report);
  }
}

Verdict JudgeOperatorMfu(const RankFacts& facts) {
  return JudgeNpuKernels(facts, "kernels of GPUs have no shapes", "types and shapes")
      .Refuse(facts.recorded.kernel_types == Recorded::kNo, "kernels have no types and shapes",
              "profiler_level=Level1")
      .AddLack(facts.recorded.chip == Recorded::kNo,
               "no info.json of the device in PROF_*: operations and TFLOPS, but no share of the "
               "peak",
               "--ai_core_num and --aic_frequency, or --peak_tflops")
      .AddLack(facts.recorded.host_ops == Recorded::kNo,
               "no host operators: the operators and modules of kernels are unknown",
               "activities with ProfilerActivity.CPU");
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
       .summary = "how much of the chip kernels and modules use (MFU), and where time is wasted",
       .needs = kModuleTables | kMfuTables | Tables::kSteps | Tables::kOpDetails,
       .parameters = std::move(parameters),
       .can_run = JudgeOperatorMfu});
}

}  // namespace mpa::recipes
