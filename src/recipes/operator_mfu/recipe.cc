// SPDX-License-Identifier: Apache-2.0
// How much of the chip the kernels, modules and kinds of work of every rank used.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "mpa/base/enum_name.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/mfu/chip_of_rank.h"
#include "mpa/mfu/module_mfu.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/module_columns.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "part.h"

namespace mpa::recipes::operator_mfu {
namespace {

using KernelItem = RowOfRank<OperatorMfuRow>;
using WasteItem = RowOfRank<MfuWaste>;
struct ShareItem {
  RankId rank;
  const MfuSummary& summary;
  const MfuShare* row;
};

// As many decimals as the Python tool keeps.
Column Share(const char* name, double width, const char* meaning, const char* title = "") {
  Column column = NamedColumn(name, Format::kDecimals4, width, meaning, title);
  column.decimals = 4;
  return column;
}
Column Tera(const char* name, double width, const char* meaning) {
  Column column = NamedColumn(name, Format::kDecimals2, width, meaning);
  column.decimals = 2;
  return column;
}

constexpr const char* kRankMeaning = "The rank.";

template <typename Item>
ColumnOf<Item> RankColumn(const char* title) {
  return CountColumn<&Item::rank, kRank>("rank_id", 10, kRankMeaning, title);
}

Cell IfKnown(bool known, double value) { return known ? Cell(value) : Cell(); }
Cell Words(std::string_view text) { return std::string(text); }

std::string_view Text(FlopsSource source) {
  return EnumName<FlopsSource::kShapes>(source, {"", "recorded", "shapes"});
}

std::vector<ColumnOf<KernelItem>> KernelColumns(bool compat) {
  using Item = KernelItem;
  std::vector<ColumnOf<Item>> columns = {
      RankColumn<Item>("Rank ID"),
      TextColumn<&Item::row, &OperatorMfuRow::op>(
          "op_name", 40, "The host operator that launched the kernel.", "Op Name"),
      TextColumn<&Item::row, &OperatorMfuRow::kernel>("kernel_name", 50, "The kernel.",
                                                      "Kernel Name"),
      CountColumn<&Item::row, &OperatorMfuRow::start>("kernel_start(ns)", 22,
                                                      "Start of the kernel, in ns since the epoch.",
                                                      "Kernel Start(ns)"),
      {NamedColumn("kernel_end(ns)", Format::kInteger, 22,
                   "End of the kernel, in ns since the epoch.", "Kernel End(ns)"),
       [](const Item& item) -> Cell { return item.row->start + item.row->dur; }},
      CountColumn<&Item::row, &OperatorMfuRow::dur>(
          "kernel_duration(ns)", 20, "Duration of the kernel, in ns.", "Kernel Duration(ns)"),
      {Share("mfu", 10, "Share of the chip's peak that the kernel reached; 1 is the peak.", "MFU"),
       [](const Item& item) -> Cell {
         return IfKnown(item.row->mfu.use.Known(), item.row->mfu.use.ratio);
       }},
      {Tera("actual_tflops", 14, "Operations per second that the kernel reached, in 10^12."),
       [](const Item& item) -> Cell {
         const Flops& flops = item.row->mfu.flops;
         return flops.Known() ? CellOf(Tflops(flops.count, item.row->dur)) : Cell();
       }},
      {Tera("chip_peak_tflops", 16, "Peak of the chip for the data type, in 10^12 per second."),
       [](const Item& item) -> Cell {
         return IfKnown(item.row->mfu.peak_tflops > 0, item.row->mfu.peak_tflops);
       }},
      {NamedColumn("flops", Format::kInteger, 18, "Operations; a multiply-add counts as two."),
       [](const Item& item) -> Cell {
         return item.row->mfu.flops.Known() ? Cell(item.row->mfu.flops.count) : Cell();
       }},
      TextColumn<&Item::row, &OperatorMfuRow::counted>(
          "flops_op_name", 30,
          "Where the number of operations comes from: the recorded call or the kernel's type."),
      TextColumn<&Item::row, &OperatorMfuRow::input_shapes>("input_shapes", 40,
                                                            "Shapes of the inputs, joined by ';'."),
      TextColumn<&Item::row, &OperatorMfuRow::output_shapes>(
          "output_shapes", 30, "Shapes of the outputs, joined by ';'.")};
  if (compat) return columns;
  const std::vector<ColumnOf<Item>> own = {
      {NamedColumn("flops_source", Format::kText, 12, "recorded (by mfu_flops ranges) or shapes."),
       [](const Item& item) -> Cell { return Words(Text(item.row->mfu.source)); }},
      {NamedColumn("compute_type", Format::kText, 12, "Data type in which the kernel multiplies."),
       [](const Item& item) -> Cell { return Words(Text(item.row->mfu.type)); }},
      {Share("mfu_of_measured_clock", 22, "MFU against the peak at the clock that was measured."),
       Member<&Item::row, &OperatorMfuRow::mfu, &KernelMfu::use_of_measured_clock>},
      TextColumn<&Item::row, &OperatorMfuRow::Reason>("why_no_mfu", 36, "Why the MFU is unknown.")};
  columns.insert(columns.end(), own.begin(), own.end());
  return columns;
}

std::vector<ColumnOf<ModuleRowOfRank>> ModuleTableColumns(bool with_mfu) {
  constexpr ModuleColumnNames kNames = {
      "parent_module",           "module",   "op_name", "kernel_list", "total_kernel_duration(ns)",
      "avg_kernel_duration(ns)", "op_count", "avg_mfu"};
  std::vector<ColumnOf<ModuleRowOfRank>> columns = ModuleColumns(kNames);
  columns.insert(columns.begin(), RankColumn<ModuleRowOfRank>("Rank ID"));
  if (with_mfu) columns.push_back(ModuleMfuColumn(kNames));
  return columns;
}

std::vector<ColumnOf<ShareItem>> ShareColumns() {
  using Item = ShareItem;
  return {
      RankColumn<Item>(""),
      TextColumn<&Item::row, &MfuShare::work>(
          "work", 30, "Kind of work, such as matrix products; step and device span are wall time."),
      CountColumn<&Item::row, &MfuShare::kernels>("kernels", 10, "Number of kernels."),
      CountColumn<&Item::row, &MfuShare::duration>(
          "duration(ns)", 16, "Time of the kernels, in ns; for step and device span, wall time."),
      {Share("share_of_device_time", 22, "Share of the time of all kernels, 1 is all."),
       [](const Item& item) -> Cell { return CellOf(item.summary.ShareOfTime(*item.row)); }},
      {NamedColumn("flops", Format::kDecimals2, 18, "Operations; a multiply-add counts as two."),
       [](const Item& item) -> Cell {
         return item.row->flops > 0 ? Cell(item.row->flops) : Cell();
       }},
      {Tera("actual_tflops", 14, "Operations per second, in 10^12."),
       Member<&Item::row, &MfuShare::Tflops>},
      {Share("mfu", 10,
             "Operations / (peak x duration), 1 is all: the share of the chip's peak that the"
             " kernels or the whole step reached."),
       Member<&Item::row, &MfuShare::Use>},
      {Share("mfu_of_measured_clock", 22, "MFU against the peak at the clock that was measured."),
       Member<&Item::row, &MfuShare::UseOfMeasuredClock>},
      TextColumn<&Item::row, &MfuShare::reason>("why_no_mfu", 40, "Why the MFU is unknown.")};
}

std::vector<ColumnOf<WasteItem>> WasteColumns() {
  using Item = WasteItem;
  return {
      RankColumn<Item>(""),
      TextColumn<&Item::row, &MfuWaste::op_type>("op_type", 30, "Type of the operator."),
      TextColumn<&Item::row, &MfuWaste::kernel>("kernel_name", 50, "One of the kernels."),
      TextColumn<&Item::row, &MfuWaste::input_shapes>("input_shapes", 40,
                                                      "Shapes of the inputs, joined by ';'."),
      {NamedColumn("compute_type", Format::kText, 12, "Data type in which the kernels multiply."),
       [](const Item& item) -> Cell { return Words(Text(item.row->type)); }},
      CountColumn<&Item::row, &MfuWaste::count>("kernels", 10, "Number of kernels."),
      CountColumn<&Item::row, &MfuWaste::duration>("duration(ns)", 16,
                                                   "Time of the kernels, in ns."),
      {Share("mfu", 10, "Share of the chip's peak that the kernels reached; 1 is the peak."),
       Member<&Item::row, &MfuWaste::use>},
      CountColumn<&Item::row, &MfuWaste::wasted>(
          "wasted(ns)", 16, "Time of the kernels beyond what they would take at the peak, in ns.")};
}

template <typename Item>
PartSheet<Item> ListOf(const SheetTitle& title, std::vector<ColumnOf<Item>> columns,
                       WorkbookPlace place, std::vector<Chart> charts = {}) {
  ItemSheet list(title, std::move(columns));
  list.sheet.of_rank = std::move(place);
  list.sheet.charts = std::move(charts);
  return PartSheet<Item>(std::move(list));
}

// Adds the sheets OperatorMFU (kernels), ModuleMFU, MFUSummary and MFUWaste; with `compat` the
// first two, with the columns that the Python tool has.
void AddSheets(const std::vector<OfRank<Part>>& parts, bool compat, Report& report) {
  const bool with_mfu = std::ranges::any_of(
      parts, [](const OfRank<Part>& part) { return HasMfu(part.part.modules); });
  auto kernels = ListOf({"OperatorMFU", ToTranslate("Utilization of the chip by kernel")},
                        KernelColumns(compat), {"operator_mfu_kernel", "Sheet1"});
  auto modules = ListOf({"ModuleMFU", ToTranslate("Utilization of the chip by module")},
                        ModuleTableColumns(with_mfu), {"operator_mfu_module", "Sheet1"});
  auto shares = ListOf({"MFUSummary", ToTranslate("Utilization of the chip by class of kernels")},
                       ShareColumns(), {"operator_mfu_summary", "Summary"});
  auto wastes = ListOf(
      {"MFUWaste", ToTranslate("Kernels whose low utilization costs most")}, WasteColumns(),
      {"operator_mfu_summary", "Waste"},
      {LargestBars("Kernel time beyond what the peak allows, all ranks",
                   {"op_type", "input_shapes", "compute_type"}, {{"wasted(ns)", Tint::kCompute}},
                   Measured::kNs, Chart::SameLabel::kSum)});
  for (const auto& [id, part] : parts) {
    const RankIndex rank = BeginRank(id, report);
    for (const OperatorMfuRow& row : part.kernels) kernels.Add({id, &row}, rank);
    for (const ModuleStatisticRow& row : part.modules) modules.Add({id, &row}, rank);
    for (const MfuShare& row : part.summary.shares) shares.Add({id, part.summary, &row}, rank);
    for (const MfuWaste& row : part.summary.wastes) wastes.Add({id, &row}, rank);
  }
  report.as_reference = compat;
  report.sheets = {std::move(kernels).Take(), std::move(modules).Take()};
  if (compat) return;
  report.sheets.push_back(std::move(shares).Take());
  report.sheets.push_back(std::move(wastes).Take());
}

// Current versions record them at Level0, too. Of GPUs operators have them, not kernels.
bool HasShapes(const RankTrace& trace) {
  const auto is_recorded = [&](StringId text) {
    return text != StringId::kEmpty && trace.strings.View(text) != "N/A";
  };
  return trace.device == DeviceKind::kGpu ? std::ranges::any_of(trace.host_ops.shapes, is_recorded)
                                          : std::ranges::any_of(trace.kernels.shapes, is_recorded);
}

constexpr Option<bool> kWithBackward =
    Switch("with_backward", "Also list the modules of the backward pass, as module_statistic does");
constexpr Option<bool> kAsPythonTool = CompatSwitch(
    "Use the rows, columns and rules of the Python tool: only kernels in mfu_flops ranges, each"
    " with all operations of its range, unknown types as FP16");

Part MapOperatorMfu(const RankTrace& trace, const RecipeArguments& arguments) {
  const ThreadGroups groups(trace);
  const AllOpWork work = FindOpWork(trace);
  const ChipPeak chip = ChipOf(trace, arguments);
  const bool compat = arguments[kAsPythonTool];
  const RankMfu mfu = FindKernelMfu(trace, groups, work, chip,
                                    compat ? MfuRule::kRangesOnly : MfuRule::kRangesAndShapes);
  ModuleStatisticOptions options;
  options.backward = arguments[kWithBackward];
  Part part{.kernels = OperatorMfuRows(trace, mfu),
            .modules = SumModules(trace, groups, work, options).rows,
            .summary = SummariseMfu(trace, mfu, chip),
            .rated = CountRated(mfu),
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
  if (std::ranges::none_of(rows, [](const auto& row) { return row.mfu.flops.Known(); })) {
    report.notes.push_back(
        rank.part.has_shapes
            ? Say("{}: no kernel with a known number of operations; {} have shapes", name,
                  Translated(rank.part.on_gpu ? "operators" : "kernels"))
            : Say("{}: no kernel with a known number of operations; collect with {}, which records"
                  " shapes",
                  name,
                  Translated(rank.part.on_gpu ? "record_shapes=True"
                                              : "profiler_level Level1 or higher")));
    return;
  }
  if (PeakOf(rank.part.summary.chip, TypeClass::kFp16).gap != PeakGap::kNone) {
    report.notes.push_back(
        Say("{}: no MFU, because the peak of the chip is unknown: give --peak_tflops{}", name,
            rank.part.on_gpu ? "" : Translated(", or keep PROF_*/device_*/info.json")));
  }
  AddImpossibleMfu(name, rank.part.rated, report);
}

void AddLines(ScreenLines lines, Report& report) {
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
    AddSheets(parts, arguments[kAsPythonTool], report);
    if (!arguments[kAsPythonTool]) AddDrawings(parts, report);
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

const char* LevelSetting(const RankFacts& facts) {
  return facts.kind == CaptureKind::kGpu ? "" : "profiler_level=Level1";
}

Verdict JudgeOperatorMfu(const RankFacts& facts) {
  const bool no_types =
      facts.kind == CaptureKind::kGpu || facts.recorded.kernel_types == Recorded::kNo;
  return (facts.kind == CaptureKind::kGpu ? JudgeReadable(facts)
                                          : JudgeNpuKernels(facts, "", "types and shapes"))
      .Refuse(no_types && facts.recorded.host_ops == Recorded::kNo,
              "kernels have no types and shapes", LevelSetting(facts))
      .AddLack(no_types, "kernels have no types and shapes: the shapes of host operators count",
               LevelSetting(facts))
      .AddLack(facts.recorded.chip == Recorded::kNo,
               "no info.json of the device in PROF_*: operations and TFLOPS, but no share of the"
               " peak",
               "--ai_core_num and --aic_frequency, or --peak_tflops")
      .AddLack(facts.recorded.host_ops == Recorded::kNo,
               "no host operators: the operators and modules of kernels are unknown",
               "activities with ProfilerActivity.CPU");
}

}  // namespace
}  // namespace mpa::recipes::operator_mfu

namespace mpa::recipes::operator_mfu {

Recipe OperatorMfu() {
  return MakeRecipe<operator_mfu::MapOperatorMfu, operator_mfu::ReduceOperatorMfu>(
      {.name = "operator_mfu",
       .folder = "OperatorMfu",
       .summary = "how much of the chip kernels and modules use (MFU), and where time is wasted",
       .needs = kModuleTables | kMfuTables | Tables::kSteps,
       .options = {kAiCores, kAicFrequency, kPeakTflops, operator_mfu::kWithBackward,
                   operator_mfu::kAsPythonTool},
       .can_run = operator_mfu::JudgeOperatorMfu});
}

}  // namespace mpa::recipes::operator_mfu
